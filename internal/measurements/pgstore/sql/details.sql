-- The details of ranges that days and weeks are made of.
SELECT s.series_id, s.size, s.start, s.body
FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::timestamptz[]) AS n (series_id, size, since, until)
JOIN rolled_details s ON s.series_id = n.series_id AND s.size = n.size AND s.start >= n.since AND s.start < n.until AND NOT s.closed
