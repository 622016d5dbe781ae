-- SQL Server 2016+: how large the data files of databases are, and how much of their logs is used, in KB, from counters
-- that the server keeps anyway. They are of databases that are open.
--
-- sys.dm_os_performance_counters: relational-databases/system-dynamic-management-views/sys-dm-os-performance-counters-transact-sql
SELECT RTRIM(c.instance_name),
       MAX(CASE WHEN c.counter_name LIKE 'Data File(s) Size (KB)%' THEN c.cntr_value END),
       MAX(CASE WHEN c.counter_name LIKE 'Log File(s) Used Size (KB)%' THEN c.cntr_value END)
FROM sys.dm_os_performance_counters AS c
WHERE c.object_name LIKE '%:Databases%'
  AND (c.counter_name LIKE 'Data File(s) Size (KB)%' OR c.counter_name LIKE 'Log File(s) Used Size (KB)%')
GROUP BY RTRIM(c.instance_name)
