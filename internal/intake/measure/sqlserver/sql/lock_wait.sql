-- SQL Server 2016+ and Azure SQL: for how many milliseconds the client session has waited for a lock that waits longest.
--
-- sys.dm_exec_requests: relational-databases/system-dynamic-management-views/sys-dm-exec-requests-transact-sql
-- sys.dm_exec_sessions: relational-databases/system-dynamic-management-views/sys-dm-exec-sessions-transact-sql
SELECT COALESCE(MAX(r.wait_time), 0)
FROM sys.dm_exec_requests AS r
JOIN sys.dm_exec_sessions AS s ON s.session_id = r.session_id
WHERE s.is_user_process = 1 AND r.wait_type LIKE 'LCK[_]%'
