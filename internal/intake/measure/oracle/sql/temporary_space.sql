-- Oracle 12.2+: how many blocks of temporary tablespaces are used, by sorts, hashes and
-- temporary tables.
-- Database Reference: V$SORT_SEGMENT (USED_BLOCKS).
SELECT NVL(SUM(used_blocks), 0)
FROM v$sort_segment
