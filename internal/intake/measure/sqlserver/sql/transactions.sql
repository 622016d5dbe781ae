-- SQL Server 2016+ and Azure SQL: the client session with the oldest open transaction, and the one that has been idle for longest in one.
--
-- A row is such a session, which may be both: its id and database, for how many milliseconds its
-- transaction has been open and, where it executes nothing, for how many it has been idle; then its
-- login, program, host, the query_hash of what it executes, and what it does. The server writes
-- these times in its local time. Our own sessions are left out.
--
-- sys.dm_tran_session_transactions: relational-databases/system-dynamic-management-views/sys-dm-tran-session-transactions-transact-sql
-- sys.dm_tran_active_transactions: relational-databases/system-dynamic-management-views/sys-dm-tran-active-transactions-transact-sql
-- sys.dm_exec_sessions: relational-databases/system-dynamic-management-views/sys-dm-exec-sessions-transact-sql
-- sys.dm_exec_requests: relational-databases/system-dynamic-management-views/sys-dm-exec-requests-transact-sql
SELECT c.session_id, c.database_id, c.open_ms, c.idle_ms, c.login_name, c.program_name, c.host_name, CONVERT(char(16), c.query_hash, 2), c.split
FROM (
    SELECT o.session_id, o.database_id, o.open_ms, o.idle_ms, o.login_name, o.program_name, o.host_name, o.query_hash, o.split,
           ROW_NUMBER() OVER (ORDER BY o.open_ms DESC, o.session_id) AS by_age,
           ROW_NUMBER() OVER (ORDER BY COALESCE(o.idle_ms, -1) DESC, o.session_id) AS by_idle
    FROM (
        SELECT s.session_id, COALESCE(NULLIF(r.database_id, 0), s.database_id) AS database_id,
               DATEDIFF_BIG(millisecond, t.transaction_begin_time, GETDATE()) AS open_ms,
               CASE WHEN r.session_id IS NULL AND LOWER(s.status) = 'sleeping' THEN DATEDIFF_BIG(millisecond, s.last_request_end_time, GETDATE()) END AS idle_ms,
               s.login_name, s.program_name, s.host_name, r.query_hash,
               CASE WHEN r.wait_type IS NOT NULL THEN 'waiting'
                    WHEN r.session_id IS NOT NULL THEN 'cpu'
                    WHEN LOWER(s.status) = 'sleeping' THEN 'idleInTransaction'
                    ELSE 'other'
               END AS split
        FROM sys.dm_tran_session_transactions AS x
        JOIN sys.dm_tran_active_transactions AS t ON t.transaction_id = x.transaction_id
        JOIN sys.dm_exec_sessions AS s ON s.session_id = x.session_id
        LEFT JOIN sys.dm_exec_requests AS r ON r.session_id = s.session_id
        WHERE s.is_user_process = 1
          AND NOT (COALESCE(s.program_name, '') = '@application@' AND s.original_login_name = ORIGINAL_LOGIN())
          AND s.session_id <> (SELECT @@SPID)
    ) AS o
) AS c
WHERE c.by_age = 1 OR c.by_idle = 1
