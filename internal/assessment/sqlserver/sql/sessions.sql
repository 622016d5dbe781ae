-- SQL Server 2016+: sessions of others over the network, and those of them with TLS
-- sys.dm_exec_connections: with MARS a connection has more of its own, which count with it. VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE.
-- https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-exec-connections-transact-sql
select count(*), coalesce(sum(case when c.encrypt_option = N'TRUE' then 1 else 0 end), 0)
from sys.dm_exec_connections c
where c.session_id <> (select @@spid) and c.parent_connection_id is null
  and c.net_transport <> N'Shared memory' and coalesce(c.client_net_address, N'') <> N'<local machine>'
