-- SQL Server 2016+ and Azure SQL: counters since the server was started, and when that was: sessions that were begun, and pages that checkpoints wrote.
--
-- The names say that they are rates; the values are sums. tempdb is made at each start.
--
-- sys.dm_os_performance_counters: relational-databases/system-dynamic-management-views/sys-dm-os-performance-counters-transact-sql
-- sys.databases: relational-databases/system-catalog-views/sys-databases-transact-sql
SELECT LOWER(RTRIM(c.counter_name)), MAX(c.cntr_value),
       (SELECT COALESCE(MAX(DATEDIFF_BIG(microsecond, '19700101', d.create_date)), 0) FROM sys.databases AS d WHERE d.database_id = 2 AND d.name = 'tempdb')
FROM sys.dm_os_performance_counters AS c
WHERE LOWER(RTRIM(c.counter_name)) IN ('logins/sec', 'checkpoint pages/sec')
GROUP BY LOWER(RTRIM(c.counter_name))
