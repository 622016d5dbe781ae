-- pg_stat_statements 1.4 to 1.7, where the extension was not updated with the server.
SELECT dbid, userid, true, queryid, calls, total_time, 0
FROM @schema@.pg_stat_statements(false)
