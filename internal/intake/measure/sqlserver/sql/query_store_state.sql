-- SQL Server 2016+ and Azure SQL: whether the query store of a database counts what is executed now, and its latest intervals.
--
-- It does in state 2 (READ_WRITE), unless it captures no new statements (mode 3). One that
-- is off (0), full or read-only for another reason (1) or broken (3) does not; nor does that
-- of a secondary replica (1, or 4), which shows what the primary did. Intervals are those that
-- ended within the last quarter of an hour, or have not ended: the longest time over which two
-- looks are compared is ten minutes. Their beginnings are microseconds since 1970.
--
-- sys.database_query_store_options: relational-databases/system-catalog-views/sys-database-query-store-options-transact-sql
-- sys.query_store_runtime_stats_interval: relational-databases/system-catalog-views/sys-query-store-runtime-stats-interval-transact-sql
SELECT o.actual_state, o.query_capture_mode, i.runtime_stats_interval_id,
       DATEDIFF_BIG(microsecond, '19700101', CONVERT(datetime2, SWITCHOFFSET(i.start_time, '+00:00')))
FROM {database}.sys.database_query_store_options AS o
LEFT JOIN {database}.sys.query_store_runtime_stats_interval AS i ON i.end_time > DATEADD(minute, -15, SYSDATETIMEOFFSET())
