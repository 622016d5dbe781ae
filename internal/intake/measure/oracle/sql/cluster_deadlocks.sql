-- Oracle 12.2+, in a cluster: how many deadlocks between sessions each container had since its instance was started.
-- It does not tell their sessions and statements: the server writes those to a trace file.
-- Deadlocks between instances are not among them.
-- Database Reference: V$CON_SYSSTAT, statistic enqueue deadlocks.
SELECT inst_id, con_id, SUM(value)
FROM gv$con_sysstat
WHERE name = 'enqueue deadlocks'
GROUP BY inst_id, con_id
