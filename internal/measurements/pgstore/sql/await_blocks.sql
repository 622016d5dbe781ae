-- Hours whose blocks cannot be reached wait half a minute, however often.
UPDATE dirty_hours d SET due = now() + interval '30 seconds'
FROM unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, hour)
WHERE d.series_id = n.series_id AND d.hour = n.hour
