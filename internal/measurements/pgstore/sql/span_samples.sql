-- The raw samples of spans. LATERAL as in raw.sql; $2 and $5 are of span_details.sql.
SELECT n.place - 1, r.body
FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::boolean[]) WITH ORDINALITY AS n (series_id, size, since, until, open, place)
CROSS JOIN LATERAL (
    SELECT body FROM raw_samples
    WHERE series_id = n.series_id AND at >= n.since AND at < n.until
    ORDER BY at
) AS r
