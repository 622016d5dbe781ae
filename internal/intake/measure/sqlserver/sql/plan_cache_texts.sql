-- SQL Server 2016+ and Azure SQL: the texts of some statements of plans that are in the cache.
--
-- Offsets are bytes, of which a character has two; -1 is the end of the batch. What is
-- encrypted has no text. What is cut here is far beyond what is kept of one.
--
-- sys.dm_exec_query_stats: relational-databases/system-dynamic-management-views/sys-dm-exec-query-stats-transact-sql
-- sys.dm_exec_plan_attributes: relational-databases/system-dynamic-management-views/sys-dm-exec-plan-attributes-transact-sql
-- sys.dm_exec_sql_text: relational-databases/system-dynamic-management-views/sys-dm-exec-sql-text-transact-sql
SELECT n.dbid, CONVERT(char(16), n.query_hash, 2),
       SUBSTRING(t.text, n.statement_start_offset / 2 + 1,
                 CASE WHEN n.statement_end_offset = -1 OR n.statement_end_offset - n.statement_start_offset > 65536 THEN 32768
                      ELSE (n.statement_end_offset - n.statement_start_offset) / 2 + 1 END)
FROM (
    SELECT s.sql_handle, s.statement_start_offset, s.statement_end_offset, s.query_hash, a.dbid,
           ROW_NUMBER() OVER (PARTITION BY a.dbid, s.query_hash ORDER BY s.creation_time, s.plan_handle, s.statement_start_offset) AS place
    FROM sys.dm_exec_query_stats AS s
    CROSS APPLY (
        SELECT CONVERT(int, p.value) AS dbid FROM sys.dm_exec_plan_attributes(s.plan_handle) AS p WHERE p.attribute = 'dbid'
    ) AS a
    WHERE s.query_hash IN (@list)
) AS n
CROSS APPLY sys.dm_exec_sql_text(n.sql_handle) AS t
WHERE n.place = 1
