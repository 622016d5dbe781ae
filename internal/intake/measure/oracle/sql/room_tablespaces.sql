-- Oracle 12.2+: how full the tablespaces for data are, in bytes, by container. Of one whose files extend themselves, the
-- size is what they may become, or what the storage below them has room for, whichever is less. Undo and temporary
-- tablespaces are left out: they are emptied again and again.
-- From a pluggable database, and without containers, CDB_ views have what DBA_ views have.
-- Database Reference: DBA_TABLESPACE_USAGE_METRICS, DBA_TABLESPACES.
SELECT u.con_id, u.tablespace_name, u.used_space * t.block_size, u.tablespace_size * t.block_size
FROM cdb_tablespace_usage_metrics u
JOIN cdb_tablespaces t ON t.con_id = u.con_id AND t.tablespace_name = u.tablespace_name
WHERE t.contents = 'PERMANENT'
ORDER BY u.used_space DESC
FETCH FIRST 1000 ROWS ONLY
