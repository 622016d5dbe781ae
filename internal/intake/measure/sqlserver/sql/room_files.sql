-- SQL Server 2016+ and Azure SQL: the filegroups of a database and its log (without a name): how much is allocated in their
-- files, how much the files may be, in pages, and how many of them have no limit but their volume. A log that may have 2 TB,
-- which is the default, counts as one without a limit. may is whether our login sees what is defined in the database.
--
-- sys.database_files: relational-databases/system-catalog-views/sys-database-files-transact-sql
-- sys.data_spaces: relational-databases/system-catalog-views/sys-data-spaces-transact-sql
-- sys.dm_db_file_space_usage: relational-databases/system-dynamic-management-views/sys-dm-db-file-space-usage-transact-sql
-- HAS_PERMS_BY_NAME: t-sql/functions/has-perms-by-name-transact-sql
SELECT COALESCE(s.name, ''), SUM(CONVERT(bigint, COALESCE(u.allocated_extent_page_count, f.size))),
       SUM(CONVERT(bigint, CASE WHEN f.growth = 0 OR f.max_size < f.size THEN f.size ELSE f.max_size END)),
       SUM(CASE WHEN f.growth > 0 AND (f.max_size = -1 OR f.type = 1 AND f.max_size = 268435456) THEN 1 ELSE 0 END),
       MAX(COALESCE(HAS_PERMS_BY_NAME(@named, 'DATABASE', 'VIEW DEFINITION'), 0)) AS may
FROM {database}.sys.database_files AS f
LEFT JOIN {database}.sys.data_spaces AS s ON s.data_space_id = f.data_space_id AND f.type = 0
LEFT JOIN {database}.sys.dm_db_file_space_usage AS u ON u.file_id = f.file_id AND f.type = 0
WHERE f.type IN (0, 1) AND f.state = 0
GROUP BY COALESCE(s.name, '')
