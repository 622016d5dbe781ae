-- SQL Server 2016+: sessions of others over the network, and those of them with TLS
-- sys.dm_exec_connections. VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE.
-- https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-exec-connections-transact-sql
select count(*), coalesce(sum(case when c.encrypt_option = N'TRUE' then 1 else 0 end), 0)
from sys.dm_exec_connections c
where c.session_id <> (select @@spid) and c.net_transport not in (N'Shared memory', N'Session')
