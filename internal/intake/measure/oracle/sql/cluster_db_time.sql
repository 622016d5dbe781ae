-- Oracle 12.2+, in a cluster: how long the sessions of each container have worked or waited for
-- something in a call, in microseconds since its instances were started.
-- Database Reference: V$CON_SYS_TIME_MODEL, statistic DB time.
SELECT con_id, SUM(value)
FROM gv$con_sys_time_model
WHERE stat_name = 'DB time'
GROUP BY con_id
