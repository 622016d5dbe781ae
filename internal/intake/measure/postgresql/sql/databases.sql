-- PostgreSQL 13 and newer. Where else the extension may be, and whether we are let in.
SELECT datname, has_database_privilege(oid, 'CONNECT')
FROM pg_database
WHERE datallowconn AND datname NOT IN ('template0', 'template1')
ORDER BY datname <> 'postgres', datname COLLATE "C"
