-- Hours that cannot be rolled up wait, twice as long each time, an hour at most.
UPDATE dirty_hours d
SET failures = d.failures + 1,
    due = now() + make_interval(secs => least(2 ^ least(d.failures + 1, 12), 3600))
FROM unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, hour)
WHERE d.series_id = n.series_id AND d.hour = n.hour
