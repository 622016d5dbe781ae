-- pg_stat_statements 1.8 (PostgreSQL 13), which counts a statement once wherever it
-- was called from.
SELECT dbid, userid, true, queryid, calls, total_exec_time, 0
FROM @schema@.pg_stat_statements(false)
