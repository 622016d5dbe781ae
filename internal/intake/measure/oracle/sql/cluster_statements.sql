-- Oracle 12.2+, in a cluster: the counters of every plan of every statement, in microseconds, whole:
-- a part could not be compared. A row is one of a statement's plans; V$SQLSTATS has one row
-- for all of them and the plan of the day, so that what ran by the old plan would count as
-- the new one's. Muster's own statements, which begin with its name (package servers), are left out: on a quiet server they
-- would be the slowest.
-- Database Reference: V$SQLSTATS_PLAN_HASH, V$SQLSTATS.
SELECT inst_id, con_id, sql_id, force_matching_signature, plan_hash_value, executions, elapsed_time
FROM gv$sqlstats_plan_hash
WHERE sql_text NOT LIKE '/* muster */%'
