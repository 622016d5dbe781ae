-- PostgreSQL 13 and newer: the sizes of databases and the ages of their ids, once an hour, as one document.
-- The size of a database is asked for only where we may connect to it, or see all statistics; it counts its
-- files. At most @most@ databases, the oldest first.
SELECT json_build_object(
    'freezeAt', current_setting('autovacuum_freeze_max_age')::bigint,
    'total', (SELECT count(*) FROM pg_database),
    'databases', (SELECT count(*) FROM pg_database WHERE datallowconn AND NOT datistemplate),
    'all', coalesce((SELECT json_agg(d) FROM (
        SELECT datname AS name, datallowconn AND NOT datistemplate AS open,
               age(datfrozenxid) AS transactions, mxid_age(datminmxid) AS multixacts,
               CASE WHEN has_database_privilege(oid, 'CONNECT') OR pg_has_role('pg_read_all_stats', 'USAGE') THEN pg_database_size(oid) END AS bytes
        FROM pg_database ORDER BY oid LIMIT @most@) d), '[]'))
