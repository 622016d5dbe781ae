-- SQL Server 2016+: the newest reports of the server's own session system_health, among them those of deadlocks.
--
-- Asked only when there was a deadlock. The ring buffer has at most 4 MB. The XML is taken apart here and not there, which
-- spares the server the parsing. It may be cut off.
--
-- sys.dm_xe_session_targets: relational-databases/system-dynamic-management-views/sys-dm-xe-session-targets-transact-sql
-- sys.dm_xe_sessions: relational-databases/system-dynamic-management-views/sys-dm-xe-sessions-transact-sql
SELECT t.target_data
FROM sys.dm_xe_session_targets AS t
JOIN sys.dm_xe_sessions AS s ON s.address = t.event_session_address
WHERE s.name = 'system_health' AND t.target_name = 'ring_buffer'
