-- PostgreSQL 14 and newer, pg_stat_statements 1.9 and newer. Times are microseconds
-- since 1970.
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
       (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint,
       coalesce((extract(epoch FROM stats_reset) * 1000000)::bigint, 0)
FROM @schema@.pg_stat_statements_info()
