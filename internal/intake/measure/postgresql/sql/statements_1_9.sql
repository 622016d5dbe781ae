-- pg_stat_statements 1.9 and 1.10 (PostgreSQL 14 to 16).
SELECT dbid, userid, toplevel, queryid, calls, total_exec_time, 0
FROM @schema@.pg_stat_statements(false)
