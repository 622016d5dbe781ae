SELECT c.relname::text AS name, string_agg(a.attname, ',' ORDER BY array_position(i.indkey::int2[], a.attnum)) AS key
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey::int2[])
WHERE n.nspname = $1 AND c.relkind = 'r'
GROUP BY c.relname
ORDER BY c.relname
