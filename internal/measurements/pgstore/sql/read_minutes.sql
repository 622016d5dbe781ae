-- What is shown of series in a stretch of time. LATERAL with an order of its own is a
-- look into the primary key for each series, whatever the server believes of the table
-- and of the list, whose length it does not know in a plan that it keeps. For 1,000
-- series and a day, all in memory:
--
--   series_id = ANY ($1), in a table of one day         71 ms
--     Index Scan using rolled_minutes_start  (rows=1) (actual rows=24000)
--       Filter: (series_id = ANY ($1))      -- the list from its front, for each row
--   this statement                                       21 ms
--     Nested Loop  (rows=10) (actual rows=24000)
--       ->  Function Scan on unnest n
--       ->  Index Scan using rolled_minutes_pkey  (actual rows=24 loops=1000)
--
-- For 10 series both take 0.1 ms. Of sessions ($4) only what is shown is read: it is the
-- smaller part of the row, and its length is in front of it.
SELECT n.id, r.start, r.slots
FROM unnest($1::bigint[]) AS n (id)
CROSS JOIN LATERAL (
    SELECT start, CASE WHEN $4::boolean THEN substring(slots FROM 3 FOR get_byte(slots, 0) * 256 + get_byte(slots, 1)) ELSE slots END AS slots
    FROM rolled_minutes
    WHERE series_id = n.id AND start >= $2 AND start < $3
    ORDER BY start
) AS r
