-- SQL Server 2016+ and Azure SQL: the greatest tables of a database that our login sees, with the age of their statistics in seconds:
-- of the one that was updated longest ago and has changes since, else of the newest. Of a table that our login may not read,
-- neither the age nor the number of changes is known.
--
-- sys.dm_db_partition_stats: relational-databases/system-dynamic-management-views/sys-dm-db-partition-stats-transact-sql
-- sys.dm_db_stats_properties: relational-databases/system-dynamic-management-views/sys-dm-db-stats-properties-transact-sql
-- sys.stats: relational-databases/system-catalog-views/sys-stats-transact-sql
SELECT h.name, t.name, p.pages, p.has, DATEDIFF_BIG(second, x.updated, SYSDATETIME()), x.changed
FROM (
    SELECT TOP (50) s.object_id, SUM(s.reserved_page_count) AS pages, SUM(CASE WHEN s.index_id < 2 THEN s.row_count ELSE 0 END) AS has
    FROM {database}.sys.dm_db_partition_stats AS s
    WHERE s.object_id > 100
    GROUP BY s.object_id
    ORDER BY SUM(s.reserved_page_count) DESC
) AS p
JOIN {database}.sys.tables AS t ON t.object_id = p.object_id
JOIN {database}.sys.schemas AS h ON h.schema_id = t.schema_id
OUTER APPLY (
    SELECT COALESCE(MIN(CASE WHEN y.modification_counter > 0 THEN y.last_updated END), MAX(y.last_updated)) AS updated, MAX(y.modification_counter) AS changed
    FROM {database}.sys.stats AS a
    CROSS APPLY {database}.sys.dm_db_stats_properties(a.object_id, a.stats_id) AS y
    WHERE a.object_id = p.object_id
) AS x
WHERE t.is_ms_shipped = 0
