-- SQL Server 2016+ and Azure SQL: identity columns and sequences of a database that are nearest to their end, of those that our login
-- sees. The end is that of the column's type. Those that count down, or begin anew, are left out.
--
-- sys.identity_columns: relational-databases/system-catalog-views/sys-identity-columns-transact-sql
-- sys.sequences: relational-databases/system-catalog-views/sys-sequences-transact-sql
-- sys.tables: relational-databases/system-catalog-views/sys-tables-transact-sql
SELECT TOP (50) q.holder, q.name, q.col, q.kind, q.digits, q.val, q.lim
FROM (
    SELECT h.name AS holder, t.name AS name, c.name AS col, c.system_type_id AS kind, c.precision AS digits, CONVERT(float, c.last_value) AS val,
           CASE c.system_type_id WHEN 48 THEN CONVERT(float, 255) WHEN 52 THEN CONVERT(float, 32767) WHEN 56 THEN CONVERT(float, 2147483647) WHEN 127 THEN CONVERT(float, 9223372036854775807)
                ELSE POWER(CONVERT(float, 10), c.precision) - 1 END AS lim
    FROM {database}.sys.identity_columns AS c
    JOIN {database}.sys.tables AS t ON t.object_id = c.object_id
    JOIN {database}.sys.schemas AS h ON h.schema_id = t.schema_id
    WHERE CONVERT(float, c.increment_value) > 0 AND c.last_value IS NOT NULL
    UNION ALL
    SELECT h.name, s.name, '', s.system_type_id, s.precision, CONVERT(float, s.current_value), CONVERT(float, s.maximum_value)
    FROM {database}.sys.sequences AS s
    JOIN {database}.sys.schemas AS h ON h.schema_id = s.schema_id
    WHERE CONVERT(float, s.increment) > 0 AND s.is_cycling = 0
) AS q
WHERE q.val > 0 AND q.lim > 0
ORDER BY q.val / q.lim DESC
