-- Oracle 12.2+, in a cluster: all instances that run, and since when.
-- Database Reference: V$INSTANCE, and GV$ views.
SELECT inst_id, TO_CHAR(startup_time, 'YYYY-MM-DD HH24:MI:SS'), parallel
FROM gv$instance
