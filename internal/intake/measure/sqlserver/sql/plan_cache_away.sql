-- SQL Server 2016+ and Azure SQL: the counters of the statements of all plans that are in the cache, while a database is away.
--
-- As plan_cache, whose sys.dm_exec_plan_attributes refuses all plans with error 927, 976 or 978 if the
-- database of one of them is being restored or on a replica that accepts no readers. The database is
-- known here of procedures, functions and triggers alone: what was executed ad hoc is in no list.
--
-- sys.dm_exec_query_stats: relational-databases/system-dynamic-management-views/sys-dm-exec-query-stats-transact-sql
-- sys.dm_exec_sql_text: relational-databases/system-dynamic-management-views/sys-dm-exec-sql-text-transact-sql
SELECT t.dbid,
       CONVERT(char(32), CONVERT(binary(16), HASHBYTES('SHA2_256',
           s.sql_handle + s.plan_handle + CONVERT(binary(4), s.statement_start_offset) + CONVERT(binary(4), s.statement_end_offset)
           + CONVERT(binary(8), s.creation_time))), 2),
       COALESCE(CONVERT(char(16), s.query_hash, 2), '0'), s.execution_count, s.total_elapsed_time,
       DATEDIFF_BIG(microsecond, '19700101', s.creation_time),
       CASE WHEN s.execution_count = 1
            THEN DATEDIFF_BIG(microsecond, '19700101', s.last_execution_time) + s.last_elapsed_time END
FROM sys.dm_exec_query_stats AS s
CROSS APPLY sys.dm_exec_sql_text(s.sql_handle) AS t
WHERE t.dbid NOT IN (0, @databases)
