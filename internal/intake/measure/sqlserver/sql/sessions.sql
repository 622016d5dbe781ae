-- SQL Server 2016+ and Azure SQL: the sessions of clients by database, by what they do and by what they wait for.
--
-- A session counts once, also where it has several requests (MARS) or a request several
-- tasks: it is active if one of its requests runs, else it waits for what the one waits for
-- that has waited longest. That is the wait of the request; what its parallel tasks wait
-- for beside (sys.dm_os_waiting_tasks) would count it several times. Sessions of the server
-- itself and our own are left out. A request that waits for a time, for a message or for an event of
-- monitoring does nothing: its session is idle. Every availability group has one. A session that a pool has reset (dormant), or that the
-- resource governor has not let in yet (preconnect), is neither active nor idle.
-- Sessions that do the same for the same people are one row: their login, program and host, and
-- the query_hash of what they execute.
--
-- sys.dm_exec_sessions: relational-databases/system-dynamic-management-views/sys-dm-exec-sessions-transact-sql
-- sys.dm_exec_requests: relational-databases/system-dynamic-management-views/sys-dm-exec-requests-transact-sql
SELECT c.database_id, c.split, c.wait, COUNT(*), c.login_name, c.program_name, c.host_name, CONVERT(char(16), c.query_hash, 2)
FROM (
    SELECT COALESCE(NULLIF(r.database_id, 0), s.database_id) AS database_id,
           CASE WHEN r.idle = 1 AND s.open_transaction_count > 0 THEN 'in transaction'
                WHEN r.idle = 1 THEN 'idle'
                WHEN r.wait_type IS NOT NULL THEN 'waiting'
                WHEN r.session_id IS NOT NULL THEN 'active'
                WHEN LOWER(s.status) = 'sleeping' AND s.open_transaction_count > 0 THEN 'in transaction'
                WHEN LOWER(s.status) = 'sleeping' THEN 'idle'
                ELSE 'other'
           END AS split,
           CASE WHEN r.idle = 0 THEN COALESCE(r.wait_type, '') ELSE '' END AS wait, r.query_hash, s.login_name, s.program_name, s.host_name
    FROM sys.dm_exec_sessions AS s
    LEFT JOIN (
        SELECT q.session_id, q.database_id, q.wait_type, q.query_hash,
               CASE WHEN q.wait_type IN ('WAITFOR', 'SP_SERVER_DIAGNOSTICS_SLEEP', 'BROKER_RECEIVE_WAITFOR', 'XE_LIVE_TARGET_TVF',
                                         'XE_DISPATCHER_WAIT', 'HADR_FILESTREAM_IOMGR_IOCOMPLETION', 'TRACEWRITE') THEN 1 ELSE 0 END AS idle,
               ROW_NUMBER() OVER (
                   PARTITION BY q.session_id
                   ORDER BY CASE WHEN q.wait_type IS NULL THEN 0 ELSE 1 END, q.wait_time DESC, q.request_id
               ) AS place
        FROM sys.dm_exec_requests AS q
    ) AS r ON r.session_id = s.session_id AND r.place = 1
    WHERE s.is_user_process = 1
      AND NOT (COALESCE(s.program_name, '') = '@application@' AND s.original_login_name = ORIGINAL_LOGIN())
      AND s.session_id <> (SELECT @@SPID)
) AS c
GROUP BY c.database_id, c.split, c.wait, c.login_name, c.program_name, c.host_name, c.query_hash
