-- SQL Server 2016+ and Azure SQL: how many bytes of tempdb are used, by objects of users, by sorts and hashes, and by versions of rows.
--
-- sys.dm_db_file_space_usage: relational-databases/system-dynamic-management-views/sys-dm-db-file-space-usage-transact-sql
SELECT COALESCE(SUM(CONVERT(bigint, f.user_object_reserved_page_count) + f.internal_object_reserved_page_count + f.version_store_reserved_page_count), 0) * 8192
FROM tempdb.sys.dm_db_file_space_usage AS f
