-- SQL Server 2016+ and Azure SQL: what the server is, and what we may see of it.
--
-- The permissions are those of 2022 where the server knows them, else those before: to a
-- server that does not know one, NULL is the answer. The last value says whether the query
-- store tells what secondary replicas did from what the primary did.
--
-- SERVERPROPERTY: t-sql/functions/serverproperty-transact-sql
-- HAS_PERMS_BY_NAME: t-sql/functions/has-perms-by-name-transact-sql
-- sys.query_store_runtime_stats: relational-databases/system-catalog-views/sys-query-store-runtime-stats-transact-sql
SELECT CONVERT(int, SERVERPROPERTY('EngineEdition')),
       CONVERT(int, PARSENAME(CONVERT(nvarchar(128), SERVERPROPERTY('ProductVersion')), 4)),
       COALESCE(HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER PERFORMANCE STATE'), HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE'), 0),
       COALESCE(HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'VIEW DATABASE PERFORMANCE STATE'), HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', 'VIEW DATABASE STATE'), 0),
       QUOTENAME(ORIGINAL_LOGIN()), QUOTENAME(USER_NAME()),
       CASE WHEN COLUMNPROPERTY(OBJECT_ID('sys.query_store_runtime_stats'), 'replica_group_id', 'ColumnId') IS NULL THEN 0 ELSE 1 END
