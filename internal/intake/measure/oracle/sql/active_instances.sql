-- Oracle 12.2+, in a cluster: how many instances run. GV$ views leave out the one that does
-- not answer, and all but ours where there are no servers for parallel execution.
-- Database Reference: V$ACTIVE_INSTANCES, and GV$ views.
SELECT COUNT(inst_number)
FROM v$active_instances
