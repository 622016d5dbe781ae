-- The tables with rows of organizations that do not stay ($1), those of $2 first, in that
-- order. Series are deleted with all that hangs on them by who keeps measurements.
SELECT c.table_name::text
FROM information_schema.columns c
JOIN information_schema.tables b USING (table_schema, table_name)
WHERE c.table_schema = current_schema() AND c.column_name = 'organization_id' AND b.table_type = 'BASE TABLE'
  AND c.table_name <> 'measured_series' AND NOT c.table_name = ANY ($1::text[])
ORDER BY array_position($2::text[], c.table_name::text) NULLS LAST, c.table_name
