-- Oracle 12.2+: how full the fast recovery area is, in bytes: what can be reclaimed counts as free. There is no row, or
-- one without a name, where there is none.
-- Database Reference: V$RECOVERY_FILE_DEST.
SELECT r.name, r.space_used - r.space_reclaimable, r.space_limit
FROM v$recovery_file_dest r
WHERE r.name IS NOT NULL AND r.space_limit > 0
