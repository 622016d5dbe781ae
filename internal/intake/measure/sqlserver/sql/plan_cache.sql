-- SQL Server 2016+ and Azure SQL: the counters of the statements of all plans that are in the cache.
--
-- The whole list, but for the databases that are read from their query stores. An entry is
-- a statement (sql_handle and both offsets) of a plan (plan_handle) as it was compiled at a
-- time: compiled anew, it begins anew. That is 16 bytes of a hash here, and the time is
-- in it as the server has it, so that a change of local time makes no other entry of it.
-- Elapsed times are microseconds; the time of creation, and the end of what was executed
-- once, are microseconds since 1970 in the server's local time. The database is the one
-- that a batch ran in, or that its procedure is of. The views of whole procedures, triggers
-- and functions are not read: what they count, their statements have counted.
--
-- sys.dm_exec_plan_attributes refuses all plans with error 927, 976 or 978 if the database of one of
-- them is being restored or on a replica that accepts no readers. Where @away is 1, the database is that
-- of the text: it is known of procedures, functions and triggers alone, and what was executed ad hoc is
-- in no list.
--
-- Where @recent is 1, only plans are listed whose last execution ended in the last three minutes, for
-- the function and the hash of each plan take time: the others have the counters that they had.
-- last_execution_time is when the last execution began.
--
-- sys.dm_exec_query_stats: relational-databases/system-dynamic-management-views/sys-dm-exec-query-stats-transact-sql
-- sys.dm_exec_plan_attributes: relational-databases/system-dynamic-management-views/sys-dm-exec-plan-attributes-transact-sql
-- sys.dm_exec_sql_text: relational-databases/system-dynamic-management-views/sys-dm-exec-sql-text-transact-sql
SELECT a.dbid,
       CONVERT(char(32), CONVERT(binary(16), HASHBYTES('SHA2_256',
           s.sql_handle + s.plan_handle + CONVERT(binary(4), s.statement_start_offset) + CONVERT(binary(4), s.statement_end_offset)
           + CONVERT(binary(8), s.creation_time))), 2),
       COALESCE(CONVERT(char(16), s.query_hash, 2), '0'), s.execution_count, s.total_elapsed_time,
       DATEDIFF_BIG(microsecond, '19700101', s.creation_time),
       CASE WHEN s.execution_count = 1
            THEN DATEDIFF_BIG(microsecond, '19700101', s.last_execution_time) + s.last_elapsed_time END
FROM sys.dm_exec_query_stats AS s
CROSS APPLY (
    SELECT CONVERT(int, p.value) AS dbid FROM sys.dm_exec_plan_attributes(s.plan_handle) AS p WHERE @away = 0 AND p.attribute = 'dbid'
    UNION ALL
    SELECT CONVERT(int, t.dbid) FROM sys.dm_exec_sql_text(s.sql_handle) AS t WHERE @away = 1
) AS a
WHERE a.dbid NOT IN (0, @databases)
  AND (@recent = 0 OR DATEADD(second, CONVERT(int, s.last_elapsed_time / 1000000) + 1, s.last_execution_time) > DATEADD(minute, -3, GETDATE()))
