-- PostgreSQL 13 and newer: who waits for whom. Asked only while a client session waits for a
-- lock, at every look. pg_blocking_pids needs the lock manager for itself for a moment, so it is
-- called for the @most@ sessions that have waited longest, and each is said to wait for
-- @blockers@ others at most: those first that do not wait, then those that have waited longest.
--
-- A row is a session: its id, what it is, when it began, its user, application, client and
-- database, its state, statement and the statement's id (@statement@ and @query_id@: null where
-- they are not wanted, or before 14), when its transaction began and when its state changed; then
-- since when it waits (@since@, from 14 on), for whom, for what kind of lock, in which mode and on
-- what. Sessions that do not wait have none of those. The last two values are the server's time
-- and how many sessions wait. Times are microseconds since 1970.
--
-- A session that waits for another one to commit waits for a transaction. What it wants to change
-- is the row that it has locked meanwhile, so the object is the table of that row. A name is that
-- of a relation in the database that we are connected to: of another one pg_class has none.
-- pg_blocking_pids has 0 for a prepared transaction, which is known by a lock on the same object
-- that no process holds. It says nothing of the process that replays the log on a standby. That
-- wants exclusive locks alone, so whoever has a lock on the same object holds it up. The workers of
-- a parallel query count as the session that leads them.
WITH locks AS MATERIALIZED (
    SELECT locktype, database, relation, page, tuple, virtualxid, transactionid, classid, objid, objsubid,
           virtualtransaction, pid, mode, granted, @since@ AS waitstart
    FROM pg_locks
), activity AS MATERIALIZED (
    SELECT *, @query_id@ AS statement_id FROM pg_stat_activity
    WHERE pid <> pg_backend_pid() AND NOT (application_name = '@application@' AND usename = current_user)
), queue AS MATERIALIZED (
    SELECT DISTINCT ON (session) *
    FROM (SELECT coalesce(a.leader_pid, a.pid) AS session, coalesce(l.waitstart, a.query_start) AS since, l.*, a.backend_type = 'startup' AS replays
          FROM locks l JOIN activity a USING (pid) WHERE NOT l.granted) one
    ORDER BY session, since
), oldest AS MATERIALIZED (
    SELECT q.*, count(*) OVER () AS sessions FROM queue q ORDER BY since, session LIMIT @most@
), blocked AS MATERIALIZED (
    SELECT o.*, ARRAY(
        SELECT b.pid
        FROM (
            SELECT DISTINCT unnest(pg_blocking_pids(o.session)) AS pid WHERE NOT o.replays
            UNION SELECT h.pid FROM locks h
            WHERE o.replays AND h.granted AND h.pid IS NOT NULL AND h.locktype = o.locktype
              AND (h.database, h.relation) IS NOT DISTINCT FROM (o.database, o.relation)
        ) b
        LEFT JOIN oldest q ON q.session = b.pid
        WHERE b.pid <> o.session
        ORDER BY q.since NULLS FIRST, b.pid
        LIMIT @blockers@
    ) AS blockers
    FROM oldest o
), prepared AS MATERIALIZED (
    SELECT DISTINCT b.session, p.gid, p.owner, p.database, p.prepared
    FROM blocked b
    JOIN locks h ON h.pid IS NULL AND h.granted AND h.locktype = b.locktype
        AND (h.database, h.relation, h.page, h.tuple, h.virtualxid, h.transactionid, h.classid, h.objid, h.objsubid)
            IS NOT DISTINCT FROM (b.database, b.relation, b.page, b.tuple, b.virtualxid, b.transactionid, b.classid, b.objid, b.objsubid)
    JOIN locks x ON x.pid IS NULL AND x.granted AND x.locktype = 'transactionid' AND x.virtualtransaction = h.virtualtransaction
    JOIN pg_prepared_xacts p ON p.transaction = x.transactionid
    WHERE 0 = ANY (b.blockers)
), edges AS MATERIALIZED (
    SELECT session, blocker::text FROM blocked, unnest(blockers) AS blocker WHERE blocker <> 0
    UNION SELECT session, 'prepared ' || gid FROM prepared
    UNION SELECT session, 'prepared' FROM blocked b WHERE 0 = ANY (blockers) AND NOT EXISTS (SELECT FROM prepared p WHERE p.session = b.session)
), micro AS (
    SELECT 1000000 AS second
)
SELECT a.pid::text, a.backend_type, (extract(epoch FROM a.backend_start) * second)::bigint, a.usename, a.application_name,
       coalesce(host(a.client_addr), a.client_hostname, CASE WHEN a.client_port = -1 THEN 'local' END), a.datname, a.state,
       @statement@, a.statement_id::text, (extract(epoch FROM a.xact_start) * second)::bigint, (extract(epoch FROM a.state_change) * second)::bigint,
       (extract(epoch FROM b.since) * second)::bigint,
       (SELECT json_agg(e.blocker) FROM edges e WHERE e.session = a.pid)::text,
       b.locktype, b.mode,
       CASE
           WHEN b.locktype = 'advisory' AND b.objsubid = 1 THEN ((b.classid::bigint << 32) | b.objid::bigint)::text
           WHEN b.locktype = 'advisory' THEN '(' || b.classid || ', ' || b.objid || ')'
           WHEN c.oid IS NOT NULL THEN 'table ' || n.nspname || '.' || c.relname
       END,
       (extract(epoch FROM clock_timestamp()) * second)::bigint, coalesce((SELECT max(sessions) FROM oldest), 0)
FROM activity a
CROSS JOIN micro
LEFT JOIN blocked b ON b.session = a.pid
LEFT JOIN LATERAL (
    SELECT h.relation, h.database FROM locks h
    WHERE b.locktype = 'transactionid' AND h.pid = b.pid AND h.locktype = 'tuple' AND h.granted LIMIT 1
) AS wants ON true
LEFT JOIN pg_class c ON c.oid = coalesce(b.relation, wants.relation)
    AND coalesce(b.database, wants.database) IN (0, (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))
LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE b.session IS NOT NULL OR a.pid::text IN (SELECT blocker FROM edges)
UNION ALL
SELECT 'prepared ' || gid, 'prepared', NULL, owner, NULL, NULL, database, NULL,
       NULL, NULL, (extract(epoch FROM prepared) * second)::bigint, NULL, NULL, NULL, NULL, NULL, NULL,
       (extract(epoch FROM clock_timestamp()) * second)::bigint, 0
FROM (SELECT DISTINCT gid, owner, database, prepared FROM prepared) known CROSS JOIN micro
UNION ALL
SELECT blocker, 'prepared', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
       (extract(epoch FROM clock_timestamp()) * second)::bigint, 0
FROM (SELECT DISTINCT blocker FROM edges WHERE blocker = 'prepared') unknown CROSS JOIN micro
