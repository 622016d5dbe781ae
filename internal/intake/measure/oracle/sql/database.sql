-- Oracle 12.2+: what the database is: a container database or not, and how it is open. The
-- edition is this instance's.
-- Database Reference: V$DATABASE, V$INSTANCE.
SELECT d.cdb, d.open_mode, d.database_role, i.version, i.edition
FROM v$database d CROSS JOIN v$instance i
