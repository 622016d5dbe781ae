-- Oracle 12.2+: what the database is in a Data Guard configuration. The DBID is the same in all of its databases.
-- Database Reference: V$DATABASE.
SELECT dbid, db_unique_name, database_role, open_mode, switchover_status, primary_db_unique_name
FROM v$database
