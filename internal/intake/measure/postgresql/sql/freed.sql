-- PostgreSQL 13 and newer: what became of a session that held others up, asked once when nobody waits any more: when the
-- session with its id (@session@) began, when that one's transaction began (null: it has none), and the server's time, in
-- microseconds since 1970. No row: there is no such session.
SELECT (extract(epoch FROM backend_start) * 1000000)::bigint, (extract(epoch FROM xact_start) * 1000000)::bigint,
       (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
FROM pg_stat_activity
WHERE pid = @session@
