-- The blocks of ranges, in the order of the ranges and of time. LATERAL with an order of
-- its own is a look into the primary key for each range, whatever the server believes of
-- the table and of the list, whose length it does not know in a plan that it keeps. For
-- 1,000 series and a day of minutes, all in memory:
--
--   series_id = ANY ($1), in a table of one day         71 ms
--     Index Scan using block_minutes_start  (rows=1) (actual rows=24000)
--       Filter: (series_id = ANY ($1))      -- the list from its front, for each row
--   this statement                                       21 ms
--     Nested Loop  (rows=10) (actual rows=24000)
--       ->  Function Scan on unnest n
--       ->  Index Scan using block_minutes_pkey  (actual rows=24 loops=1000)
--
-- For 10 series both take 0.1 ms. Of sessions ($4) only what is shown is read: it is the
-- smaller part of the row, and its length is in front of it (blocks.Front).
SELECT n.place - 1, r.start, r.body
FROM unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[], $4::boolean[]) WITH ORDINALITY AS n (series_id, since, until, front, place)
CROSS JOIN LATERAL (
    SELECT start, CASE WHEN n.front THEN substring(body FROM 3 FOR get_byte(body, 0) * 256 + get_byte(body, 1)) ELSE body END AS body
    FROM {table}
    WHERE series_id = n.series_id AND start >= n.since AND start < n.until
    ORDER BY start
) AS r
