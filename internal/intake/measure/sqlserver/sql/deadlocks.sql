-- SQL Server 2016+: how many deadlocks there were since the server was started, and what time it is in UTC.
--
-- The counter is a running total, whatever its name says.
--
-- sys.dm_os_performance_counters: relational-databases/system-dynamic-management-views/sys-dm-os-performance-counters-transact-sql
SELECT p.cntr_value, DATEDIFF_BIG(microsecond, '19700101', SYSUTCDATETIME())
FROM sys.dm_os_performance_counters AS p
WHERE p.counter_name = 'Number of Deadlocks/sec' AND p.instance_name = '_Total'
