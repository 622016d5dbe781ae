-- All tables with rows of series: by the catalog, so that none is forgotten. Parts of a
-- table go with it.
SELECT c.table_name::text
FROM information_schema.columns c
JOIN information_schema.tables b USING (table_schema, table_name)
WHERE c.table_schema = current_schema() AND c.column_name = 'series_id' AND b.table_type = 'BASE TABLE'
  AND NOT (SELECT relispartition FROM pg_class WHERE oid = format('%I.%I', c.table_schema, c.table_name)::regclass)
ORDER BY c.table_name
