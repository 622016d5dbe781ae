-- The details of spans, closed or not; where $5 says so, only those that are open.
SELECT n.place - 1, d.body
FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::boolean[]) WITH ORDINALITY AS n (series_id, size, since, until, open, place)
CROSS JOIN LATERAL (
    SELECT body FROM rolled_details
    WHERE series_id = n.series_id AND size = n.size AND start >= n.since AND start < n.until AND NOT (n.open AND closed)
    ORDER BY start
) AS d
