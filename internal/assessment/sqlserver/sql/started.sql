-- SQL Server 2016+: when the server started, in microseconds since 1970 UTC
-- sys.dm_os_sys_info, by its ticks: the local time that it also has does not say which one. VIEW SERVER STATE.
-- https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-os-sys-info-transact-sql
select datediff_big(microsecond, '19700101', dateadd(second, -convert(int, (i.ms_ticks - i.sqlserver_start_time_ms_ticks) / 1000), sysutcdatetime()))
from sys.dm_os_sys_info i
