-- PostgreSQL 13 and newer: what the server tells about its transactions, temporary files, checkpoints
-- and new connections, once a minute. A row is a figure: its name, the number of its database, its
-- value, and since when it is counted; then the session that holds the transaction: its id, user,
-- application, client, the statement that it executes or executed last (@query_id@), and its state.
--
-- Of open transactions there is the oldest, a prepared one included, and the session that has been idle
-- for longest in one. A session that we may not look at has no backend_type (hidden), and one that
-- has track_activities off tells no transaction (untracked); both are counted. A count is also begun
-- anew when the server is started: a crash resets it. Times are milliseconds.
WITH activity AS MATERIALIZED (
    SELECT datid, pid::text AS session, usename::text, nullif(application_name, '') AS application,
           coalesce(host(client_addr), client_hostname, CASE WHEN client_port = -1 THEN 'local' END) AS client,
           @query_id@::text || '/' || usesysid AS statement, xact_start, state_change, backend_type IS NULL AS hidden, state = 'disabled' AS untracked,
           CASE WHEN state LIKE 'idle in transaction%' THEN 'idleInTransaction'
                WHEN state = 'active' AND wait_event_type IS NULL THEN 'cpu'
                WHEN state = 'active' THEN 'waiting'
                ELSE 'other'
           END AS state
    FROM pg_stat_activity
    WHERE datid IS NOT NULL AND (backend_type = 'client backend' OR backend_type IS NULL)
      AND pid <> pg_backend_pid()
      AND NOT (application_name = '@application@' AND usename = current_user)
), open AS (
    SELECT datid, session, usename, application, client, statement, state, xact_start AS since FROM activity WHERE xact_start IS NOT NULL
    UNION ALL
    SELECT d.oid, 'prepared ' || p.gid, p.owner::text, NULL, NULL, NULL, 'other', p.prepared
    FROM pg_prepared_xacts p LEFT JOIN pg_database d ON d.datname = p.database
), micro AS (
    SELECT 1000000 AS second, (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint::text AS started
)
(SELECT 'oldestTransaction', datid::text, (extract(epoch FROM clock_timestamp() - since) * 1000)::bigint, NULL, session, usename, application, client, statement, state
 FROM open ORDER BY since, session LIMIT 1)
UNION ALL
(SELECT 'oldestIdleInTransaction', datid::text, (extract(epoch FROM clock_timestamp() - state_change) * 1000)::bigint, NULL, session, usename, application, client, statement, state
 FROM activity WHERE state = 'idleInTransaction' ORDER BY state_change, session LIMIT 1)
UNION ALL
SELECT 'hidden', NULL, count(*), NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM activity WHERE hidden
UNION ALL
SELECT 'untracked', NULL, count(*), NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM activity WHERE untracked
UNION ALL
SELECT v.figure, s.datid::text, v.n, started || '/' || coalesce((extract(epoch FROM s.stats_reset) * second)::bigint, 0), NULL, NULL, NULL, NULL, NULL, NULL
FROM pg_stat_database s CROSS JOIN micro
CROSS JOIN LATERAL (VALUES ('temporaryBytes', s.temp_bytes), ('temporaryFiles', s.temp_files), ('newConnections', @sessions@)) v (figure, n)
WHERE s.datid <> 0 AND v.n IS NOT NULL
UNION ALL
SELECT v.figure, NULL, v.n, started || '/' || coalesce((extract(epoch FROM c.stats_reset) * second)::bigint, 0), NULL, NULL, NULL, NULL, NULL, NULL
FROM @checkpoints@ c CROSS JOIN micro
CROSS JOIN LATERAL (VALUES ('checkpointsTimed', c.timed), ('checkpointsRequested', c.requested), ('checkpointWriteMs', c.writing::bigint),
                           ('checkpointSyncMs', c.syncing::bigint), ('checkpointBuffers', c.buffers)) v (figure, n)
