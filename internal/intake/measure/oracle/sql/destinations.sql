-- Oracle 12.2+: the standby databases to which the database sends its redo.
-- Database Reference: V$ARCHIVE_DEST_STATUS.
SELECT db_unique_name, type, status, recovery_mode, gap_status, synchronization_status, error
FROM v$archive_dest_status
WHERE type IN ('PHYSICAL', 'LOGICAL', 'SNAPSHOT', 'FAR SYNC') AND status <> 'INACTIVE'
ORDER BY dest_id
