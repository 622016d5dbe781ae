-- Notes that hours have their raw samples in the head.
UPDATE measured_hours h SET packed = false
FROM unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, hour)
WHERE h.series_id = n.series_id AND h.hour = n.hour
