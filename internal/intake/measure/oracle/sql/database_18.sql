-- Oracle 18+: likewise, with the release update.
-- Database Reference: V$DATABASE, V$INSTANCE (VERSION_FULL).
SELECT d.cdb, d.open_mode, d.database_role, i.version_full, i.edition
FROM v$database d CROSS JOIN v$instance i
