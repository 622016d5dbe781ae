-- PostgreSQL 13 and newer: who waits for locks, advisory ones apart: how many client
-- sessions, for how many seconds the longest does, and for what, with one session that it
-- waits for. @since@ is when a wait began: from 14 on a lock says so (it is null for a moment
-- as the wait begins), before that it is when the statement began, at the longest. Who holds
-- a lock is asked for two sessions at the most. A name is that of a relation in the database
-- that we are connected to: of another one pg_class has none.
WITH waiting AS MATERIALIZED (
    SELECT l.locktype, l.classid, l.objid, l.objsubid, l.relation, l.database, l.pid, a.datname,
           coalesce(extract(epoch FROM clock_timestamp() - @since@), 0) AS seconds
    FROM pg_locks l
    JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE NOT l.granted AND a.backend_type = 'client backend'
), longest AS MATERIALIZED (
    SELECT DISTINCT ON (locktype = 'advisory') *, count(*) OVER (PARTITION BY locktype = 'advisory') AS sessions
    FROM waiting ORDER BY locktype = 'advisory', seconds DESC
), held AS MATERIALIZED (
    SELECT longest.*, (pg_blocking_pids(pid))[1] AS holder FROM longest
)
SELECT (h.locktype = 'advisory')::int, h.sessions, h.seconds, h.pid, h.locktype,
       CASE
           WHEN h.locktype = 'advisory' AND h.objsubid = 1 THEN ((h.classid::bigint << 32) | h.objid::bigint)::text
           WHEN h.locktype = 'advisory' THEN '(' || h.classid || ', ' || h.objid || ')'
           WHEN c.oid IS NOT NULL THEN 'table ' || n.nspname || '.' || c.relname
       END,
       h.datname, h.holder, b.state LIKE 'idle in transaction%'
FROM held h
LEFT JOIN pg_class c ON c.oid = h.relation AND h.database IN (0, (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_stat_activity b ON b.pid = h.holder
