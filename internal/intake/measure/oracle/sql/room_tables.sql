-- Oracle 12.2+: the greatest tables, but for those in SYSTEM and SYSAUX: their rows and blocks as of when they were analyzed
-- last, how many seconds ago that was, and the rows that changed since.
-- Database Reference: DBA_TABLES, DBA_TAB_MODIFICATIONS.
SELECT t.con_id, t.owner, t.table_name, t.blocks, t.num_rows, ROUND((SYSDATE - t.last_analyzed) * 86400),
       (SELECT SUM(m.inserts + m.updates + m.deletes)
        FROM cdb_tab_modifications m
        WHERE m.con_id = t.con_id AND m.table_owner = t.owner AND m.table_name = t.table_name AND m.partition_name IS NULL)
FROM (
    SELECT a.con_id, a.owner, a.table_name, a.blocks, a.num_rows, a.last_analyzed
    FROM cdb_tables a
    WHERE a.blocks > 0 AND (a.tablespace_name IS NULL OR a.tablespace_name NOT IN ('SYSTEM', 'SYSAUX'))
    ORDER BY a.blocks DESC
    FETCH FIRST 50 ROWS ONLY
) t
ORDER BY t.blocks DESC
