-- PostgreSQL 13 and newer, pg_stat_statements before 1.9: it does not say when it was
-- reset. Times are microseconds since 1970.
SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint,
       (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint, 0
