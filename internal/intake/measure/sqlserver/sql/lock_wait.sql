-- SQL Server 2016+ and Azure SQL: who waits for locks, those of sp_getapplock apart: how many client sessions, and for how many milliseconds the longest does.
--
-- sys.dm_exec_requests: relational-databases/system-dynamic-management-views/sys-dm-exec-requests-transact-sql
-- sys.dm_exec_sessions: relational-databases/system-dynamic-management-views/sys-dm-exec-sessions-transact-sql
SELECT w.advisory, COUNT(*), MAX(w.wait_time)
FROM (
    SELECT CASE WHEN r.wait_resource LIKE 'APPLICATION:%' THEN 1 ELSE 0 END AS advisory, r.wait_time
    FROM sys.dm_exec_requests AS r
    JOIN sys.dm_exec_sessions AS s ON s.session_id = r.session_id
    WHERE s.is_user_process = 1 AND r.wait_type LIKE 'LCK[_]%'
) AS w
GROUP BY w.advisory
