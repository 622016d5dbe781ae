-- SQL Server 2016+ and Azure SQL: the statements of Muster itself that are in the plan cache.
--
-- They are known by the settings that each begins with (package servers). Only plans that were executed in the last minutes
-- are looked at, as only those are counted.
--
-- sys.dm_exec_query_stats: relational-databases/system-dynamic-management-views/sys-dm-exec-query-stats-transact-sql
-- sys.dm_exec_sql_text: relational-databases/system-dynamic-management-views/sys-dm-exec-sql-text-transact-sql
SELECT DISTINCT CONVERT(char(16), s.query_hash, 2)
FROM sys.dm_exec_query_stats AS s
CROSS APPLY sys.dm_exec_sql_text(s.sql_handle) AS t
WHERE s.last_execution_time > DATEADD(minute, -@minutes, GETDATE()) AND CHARINDEX('SET LOCK_TIMEOUT 500; SET DEADLOCK_PRIORITY LOW;', LEFT(t.text, 200)) > 0
