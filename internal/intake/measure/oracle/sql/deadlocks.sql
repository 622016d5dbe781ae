-- Oracle 12.2+: how many deadlocks between sessions each container had since its instance was started.
-- It does not tell their sessions and statements: the server writes those to a trace file.
-- Database Reference: V$CON_SYSSTAT, statistic enqueue deadlocks.
SELECT 0, con_id, SUM(value)
FROM v$con_sysstat
WHERE name = 'enqueue deadlocks'
GROUP BY con_id
