-- Oracle 12.2+, in a cluster: since when the cursors are there that have a plan now, in seconds since
-- 1970 by the server's local time. A cursor that was never loaded again is as old as its
-- plan, of the others only the statement's age is known.
-- Database Reference: V$SQL (FIRST_LOAD_TIME, LAST_LOAD_TIME, LOADS).
SELECT inst_id, con_id, sql_id, plan_hash_value,
       MIN(ROUND((TO_DATE(CASE WHEN loads = 1 THEN last_load_time ELSE first_load_time END, 'YYYY-MM-DD/HH24:MI:SS')
                  - DATE '1970-01-01') * 86400))
FROM gv$sql
WHERE sql_id IN (@list)
GROUP BY inst_id, con_id, sql_id, plan_hash_value
