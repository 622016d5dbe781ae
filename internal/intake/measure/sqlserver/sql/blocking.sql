-- SQL Server 2016+ and Azure SQL: who waits for whom, asked only while a session waits for a lock.
--
-- A row is a request that waits for a lock of another session, or a session that one waits for:
-- its id, when it began and by whom, its database, its state, what its request waits for, for how
-- many milliseconds and on what, the statement (its text where @texts is 1), and for how many
-- milliseconds the session has had no request. The server writes when a session began in its local
-- time. A parallel request that waits for its own tasks waits for nobody. Below zero, the id of a
-- blocker is no session: -2 is an orphaned distributed transaction, -3 a transaction that a
-- recovery has deferred, -4 and -5 the owner of a latch that the server does not know. Our own
-- sessions are left out. A session with several requests (MARS) has several rows, hence 1000. The last column is how
-- many rows there are without that bound; those that are left out wait.
--
-- sys.dm_exec_sessions: relational-databases/system-dynamic-management-views/sys-dm-exec-sessions-transact-sql
-- sys.dm_exec_requests: relational-databases/system-dynamic-management-views/sys-dm-exec-requests-transact-sql
-- sys.dm_exec_sql_text: relational-databases/system-dynamic-management-views/sys-dm-exec-sql-text-transact-sql
SELECT s.session_id, CONVERT(varchar(23), s.login_time, 126), s.login_name, s.program_name, s.host_name,
       COALESCE(NULLIF(r.database_id, 0), s.database_id), s.status, s.open_transaction_count, s.is_user_process,
       CASE WHEN r.wait_type LIKE 'LCK[_]%' AND r.blocking_session_id <> r.session_id THEN r.blocking_session_id ELSE 0 END,
       r.wait_type, r.wait_time, r.wait_resource, CONVERT(char(16), r.query_hash, 2),
       CASE WHEN @texts = 1 THEN (
           SELECT SUBSTRING(t.text, r.statement_start_offset / 2 + 1,
                            CASE WHEN r.statement_end_offset = -1 OR r.statement_end_offset - r.statement_start_offset > 65536 THEN 32768
                                 ELSE (r.statement_end_offset - r.statement_start_offset) / 2 + 1 END)
           FROM sys.dm_exec_sql_text(r.sql_handle) AS t) END,
       CASE WHEN r.session_id IS NULL THEN DATEDIFF_BIG(millisecond, s.last_request_end_time, GETDATE()) END,
       COUNT(*) OVER ()
FROM sys.dm_exec_sessions AS s
LEFT JOIN sys.dm_exec_requests AS r ON r.session_id = s.session_id
WHERE s.session_id <> (SELECT @@SPID)
  AND NOT (COALESCE(s.program_name, '') = '@application@' AND s.original_login_name = ORIGINAL_LOGIN())
  AND (r.wait_type LIKE 'LCK[_]%' AND r.blocking_session_id <> 0 AND r.blocking_session_id <> r.session_id
       OR s.session_id IN (SELECT b.blocking_session_id FROM sys.dm_exec_requests AS b
                           WHERE b.wait_type LIKE 'LCK[_]%' AND b.blocking_session_id <> b.session_id))
ORDER BY CASE WHEN r.blocking_session_id <> 0 THEN 1 ELSE 0 END, r.wait_time DESC, s.session_id
OFFSET 0 ROWS FETCH NEXT 1000 ROWS ONLY
