-- Oracle 12.2+, in a cluster: seconds that the client session has waited which waits longest for what
-- another one holds: a lock of rows, tables or users (Application), or of a definition
-- (Concurrency). Nobody waits: 0.
-- Database Reference: V$SESSION (WAIT_TIME_MICRO, BLOCKING_SESSION_STATUS).
SELECT ROUND(NVL(MAX(wait_time_micro), 0) / 1000000, 3)
FROM gv$session
WHERE type = 'USER' AND state = 'WAITING' AND blocking_session_status = 'VALID'
  AND wait_class IN ('Application', 'Concurrency')
