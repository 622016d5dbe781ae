-- Oracle 12.2+: the first thousand characters of some statements.
-- Database Reference: V$SQLSTATS_PLAN_HASH, V$SQLSTATS.
SELECT sql_id, MAX(sql_text)
FROM v$sqlstats_plan_hash
WHERE sql_id IN (@list)
GROUP BY sql_id
