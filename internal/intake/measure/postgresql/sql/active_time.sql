-- PostgreSQL 14 and newer. How long the sessions of each database have executed, in
-- milliseconds, and since when that is counted, in microseconds since 1970 (0: since
-- its statistics began).
SELECT datid, active_time, coalesce((extract(epoch FROM stats_reset) * 1000000)::bigint, 0)
FROM pg_stat_database
WHERE datid <> 0
