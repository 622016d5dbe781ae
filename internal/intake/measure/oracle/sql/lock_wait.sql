-- Oracle 12.2+: who waits for what another session holds, locks of DBMS_LOCK apart: how many
-- client sessions, and for how many seconds the longest does. It is a lock of rows, tables or
-- users (Application), or of a definition (Concurrency).
-- Database Reference: V$SESSION (EVENT, WAIT_TIME_MICRO, BLOCKING_SESSION_STATUS).
SELECT w.advisory, COUNT(*), ROUND(MAX(w.wait_time_micro) / 1000000, 3)
FROM (
    SELECT CASE WHEN event = 'enq: UL - contention' THEN 1 ELSE 0 END AS advisory, wait_time_micro
    FROM v$session
    WHERE type = 'USER' AND state = 'WAITING' AND blocking_session_status = 'VALID'
      AND wait_class IN ('Application', 'Concurrency')
) w
GROUP BY w.advisory
