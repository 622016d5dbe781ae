-- pg_stat_statements 1.4 and newer. The texts of some statements, as long as the server
-- has them: what is cut here is far beyond what is kept of one.
SELECT dbid, userid, queryid, left(query, 32768)
FROM @schema@.pg_stat_statements(true)
WHERE queryid = ANY ('{@queries@}'::bigint[])
