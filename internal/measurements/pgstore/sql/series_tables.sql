-- All tables with rows of series: by the catalog, so that none is forgotten. Parts of a
-- table go with it, and may be dropped just now.
SELECT c.table_name::text
FROM information_schema.columns c
JOIN information_schema.tables b USING (table_schema, table_name)
WHERE c.table_schema = current_schema() AND c.column_name = 'series_id' AND b.table_type = 'BASE TABLE'
  AND NOT EXISTS (SELECT FROM pg_class p WHERE p.relnamespace = current_schema()::regnamespace AND p.relname = c.table_name AND p.relispartition)
ORDER BY c.table_name
