-- PostgreSQL 13 and newer. Where else the extension may be.
SELECT datname
FROM pg_database
WHERE datallowconn AND NOT datistemplate AND has_database_privilege(oid, 'CONNECT')
ORDER BY datname <> 'postgres', datname COLLATE "C"
LIMIT 20
