-- Oracle 12.2+: how many bytes a block has, of temporary tablespaces too.
-- Database Reference: V$PARAMETER (DB_BLOCK_SIZE).
SELECT value
FROM v$parameter
WHERE name = 'db_block_size'
