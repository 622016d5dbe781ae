-- PostgreSQL 13 and newer. The client sessions of each database by what they do and
-- wait for; a database without one has a row too, with no session. A session that we
-- may not look at has no backend_type either: it is hidden, and no background process
-- for all we know. Ours do not count, on whatever connection a pooler put them. Templates
-- that take connections are databases like others, but for the two that every server has. A worker of a
-- parallel query counts as its leader, which waits for it in a class of its own. So a worker that waits for a
-- lock is a row too, which says nothing else (worker).
--
-- Sessions that do the same for the same people are one row: their event, their statement, as the
-- list of statements names it (@query_id@: null before 14; of an idle session it would be its last
-- one, so it is left out), their user, application and client. The last column is how many deadlocks
-- the database had since its statistics began.
SELECT d.oid, d.datname, d.datallowconn, coalesce(pg_has_role('pg_read_all_stats', 'USAGE'), false), quote_ident(current_user),
       coalesce(s.split, ''), coalesce(s.wait, ''), coalesce(s.sessions, 0),
       coalesce(s.event, ''), coalesce(s.statement, ''), coalesce(s.usename::text, ''), coalesce(s.application, ''), coalesce(s.client, ''), t.deadlocks
FROM pg_database d
LEFT JOIN (
    SELECT datid, wait_event_type AS wait, wait_event AS event, count(*) AS sessions, usename, nullif(application_name, '') AS application,
           coalesce(host(client_addr), client_hostname, CASE WHEN client_port = -1 THEN 'local' END) AS client,
           CASE WHEN state = 'active' THEN @query_id@::text || '/' || usesysid END AS statement,
           CASE WHEN backend_type IS NULL THEN 'hidden'
                WHEN backend_type = 'parallel worker' THEN 'worker'
                WHEN state = 'active' AND wait_event_type IS NULL THEN 'active'
                WHEN state = 'active' THEN 'waiting'
                WHEN state = 'idle' THEN 'idle'
                WHEN state IN ('idle in transaction', 'idle in transaction (aborted)') THEN 'in transaction'
                ELSE 'other' -- fastpath function call, disabled, starting
           END AS split
    FROM pg_stat_activity
    WHERE datid IS NOT NULL AND (backend_type = 'client backend' OR backend_type IS NULL OR backend_type = 'parallel worker' AND wait_event_type = 'Lock')
      AND pid <> pg_backend_pid()
      AND NOT (application_name = '@application@' AND usename = current_user)
    GROUP BY datid, split, wait, event, usename, application, client, statement
) s ON s.datid = d.oid
LEFT JOIN pg_stat_database t ON t.datid = d.oid
WHERE NOT d.datistemplate OR d.datallowconn AND d.datname NOT IN ('template0', 'template1')
ORDER BY d.oid
