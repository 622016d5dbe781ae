-- SQL Server 2016+: the logins that have a session now
-- sys.dm_exec_sessions. VIEW SERVER STATE, from 2022 on VIEW SERVER PERFORMANCE STATE.
-- https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-exec-sessions-transact-sql
select distinct s.original_login_name
from sys.dm_exec_sessions s
where s.session_id <> (select @@spid) and s.is_user_process = 1
