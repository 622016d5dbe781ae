-- The tables of a database, and each with its columns as text: bytea so that what is
-- ASCII in it can be read.
SELECT format('%I.%I', n.nspname, c.relname) AS name,
       string_agg(format(CASE a.atttypid WHEN 'bytea'::regtype THEN 'encode(%I, ''escape'')' ELSE '%I::text' END, a.attname), ', ' ORDER BY a.attnum) AS columns
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'm') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\_%'
GROUP BY 1
