-- SQL Server 2016+: the counters of the query store of a database.
--
-- Of each plan and interval that ended within the last quarter of an hour, or has not
-- ended: the longest time over which two looks are compared is ten minutes. An interval
-- that is under way has several rows, flushed and in memory, and one for each way that an
-- execution can end: they are added. Averages times counts are microseconds. Since when a
-- plan has counters in an interval: the later of the interval's beginning and the end of
-- its first execution, in microseconds since 1970. Queries of the server's own are not
-- anybody's.
--
-- sys.query_store_runtime_stats: relational-databases/system-catalog-views/sys-query-store-runtime-stats-transact-sql
-- sys.query_store_runtime_stats_interval: relational-databases/system-catalog-views/sys-query-store-runtime-stats-interval-transact-sql
-- sys.query_store_plan: relational-databases/system-catalog-views/sys-query-store-plan-transact-sql
-- sys.query_store_query: relational-databases/system-catalog-views/sys-query-store-query-transact-sql
SELECT s.plan_id, i.runtime_stats_interval_id, CONVERT(char(16), q.query_hash, 2),
       SUM(s.count_executions), CONVERT(bigint, ROUND(SUM(s.avg_duration * s.count_executions), 0)), MAX(s.max_duration),
       DATEDIFF_BIG(microsecond, '19700101', CONVERT(datetime2, SWITCHOFFSET(i.start_time, '+00:00'))),
       DATEDIFF_BIG(microsecond, '19700101', CONVERT(datetime2, SWITCHOFFSET(MIN(s.first_execution_time), '+00:00')))
FROM {database}.sys.query_store_runtime_stats AS s
JOIN {database}.sys.query_store_runtime_stats_interval AS i ON i.runtime_stats_interval_id = s.runtime_stats_interval_id
JOIN {database}.sys.query_store_plan AS p ON p.plan_id = s.plan_id
JOIN {database}.sys.query_store_query AS q ON q.query_id = p.query_id
WHERE i.end_time > DATEADD(minute, -15, SYSDATETIMEOFFSET()) AND q.is_internal_query = 0
GROUP BY s.plan_id, i.runtime_stats_interval_id, i.start_time, q.query_hash
