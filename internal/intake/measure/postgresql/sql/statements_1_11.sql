-- pg_stat_statements 1.11 and newer (PostgreSQL 17), which says since when it has an
-- entry. The whole list, without the texts: a part of it could not be compared.
SELECT dbid, userid, toplevel, queryid, calls, total_exec_time, (extract(epoch FROM stats_since) * 1000000)::bigint
FROM @schema@.pg_stat_statements(false)
