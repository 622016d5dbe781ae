-- Oracle 12.2+: the instance that we are on, since when it runs, by its local time, and
-- whether it is one of a cluster's.
-- Database Reference: V$INSTANCE.
SELECT instance_number, TO_CHAR(startup_time, 'YYYY-MM-DD HH24:MI:SS'), parallel
FROM v$instance
