-- The tables that blocks of raw samples are in, and from when to when, the oldest first.
-- The one from before there were days has no beginning.
SELECT format('%s.%I', c.relnamespace::regnamespace, c.relname) AS name,
    coalesce(substring(b.bound FROM 'FROM \(''([^'']+)''\)')::timestamptz, to_timestamp(0)) AS since,
    substring(b.bound FROM 'TO \(''([^'']+)''\)')::timestamptz AS until
FROM pg_inherits i
JOIN pg_class c ON c.oid = i.inhrelid
CROSS JOIN LATERAL pg_get_expr(c.relpartbound, c.oid) AS b (bound) -- NULL: dropped just now
WHERE i.inhparent = 'block_raw'::regclass AND b.bound IS NOT NULL
ORDER BY until
