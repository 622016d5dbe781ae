SELECT r.series_id, r.start, r.body
FROM unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, start)
JOIN head_days r ON r.series_id = n.series_id AND r.start = n.start
