-- Hours whose blocks cannot be reached wait for $3, however often. That they failed
-- for another reason before does not count any more (forget_away).
UPDATE dirty_hours d SET failures = 0, due = now() + $3::interval
FROM unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, hour)
WHERE d.series_id = n.series_id AND d.hour = n.hour
