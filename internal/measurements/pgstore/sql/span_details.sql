-- What series have in spans, in the order in which they are asked for: of minutes the raw
-- samples, else the details, closed or not; where $5 says so, only those that are open.
-- Which of the two it is, is decided before either is looked at. LATERAL as in raw.sql.
SELECT n.place - 1, d.body
FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::boolean[]) WITH ORDINALITY AS n (series_id, size, since, until, open, place)
CROSS JOIN LATERAL (
    (SELECT body FROM raw_samples
     WHERE n.size = '1m' AND series_id = n.series_id AND at >= n.since AND at < n.until
     ORDER BY at)
    UNION ALL
    (SELECT body FROM rolled_details
     WHERE n.size <> '1m' AND series_id = n.series_id AND size = n.size AND start >= n.since AND start < n.until AND NOT (n.open AND closed)
     ORDER BY start)
) AS d
