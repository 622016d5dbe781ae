-- The raw samples of ranges, in the order of the ranges and of time. LATERAL with an
-- order of its own is a look into the index for each range, whatever the planner
-- believes of the table.
SELECT n.place - 1, r.at, r.body
FROM unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[]) WITH ORDINALITY AS n (series_id, since, until, place)
CROSS JOIN LATERAL (
    SELECT at, body FROM raw_samples
    WHERE series_id = n.series_id AND at >= n.since AND at < n.until
    ORDER BY at
) AS r
ORDER BY n.place, r.at
