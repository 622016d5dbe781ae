-- SQL Server 2016+ and Azure SQL: what became of a session that held others up, asked once when
-- nobody waits any more: when the session with its id (@session) began, and how many transactions
-- it has. No row: there is no such session.
--
-- sys.dm_exec_sessions: relational-databases/system-dynamic-management-views/sys-dm-exec-sessions-transact-sql
SELECT CONVERT(varchar(23), s.login_time, 126), s.open_transaction_count
FROM sys.dm_exec_sessions AS s
WHERE s.session_id = @session
