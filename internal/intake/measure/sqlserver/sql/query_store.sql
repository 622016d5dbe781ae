-- SQL Server 2016+: the counters of the query store of a database.
--
-- Each view of a query store is a function whose number of rows the server guesses: joined, they take
-- minutes on a store of 80,000 plans, and one alone takes a tenth of a second. So this reads the
-- counters alone, by plan; query_store_plans and query_store_queries tell of whose they are.
--
-- Of each plan and interval since the first of those in query_store_state. An interval
-- that is under way has several rows, flushed and in memory, and one for each way that an
-- execution can end: they are added. Averages times counts are microseconds. The end of the first
-- execution of a plan in an interval is microseconds since 1970.
--
-- sys.query_store_runtime_stats: relational-databases/system-catalog-views/sys-query-store-runtime-stats-transact-sql
SELECT s.plan_id, s.runtime_stats_interval_id,
       SUM(s.count_executions), CONVERT(bigint, ROUND(SUM(s.avg_duration * s.count_executions), 0)), MAX(s.max_duration),
       DATEDIFF_BIG(microsecond, '19700101', CONVERT(datetime2, SWITCHOFFSET(MIN(s.first_execution_time), '+00:00')))
FROM {database}.sys.query_store_runtime_stats AS s
WHERE s.runtime_stats_interval_id >= @first
GROUP BY s.plan_id, s.runtime_stats_interval_id
