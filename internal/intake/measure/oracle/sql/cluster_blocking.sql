-- Oracle 12.2+, in a cluster: who waits for whom, asked only while a session waits for what
-- another one holds. A row is a session that waits, or that one waits for by itself or at the end
-- of a chain: its id and instance, when it began and by whom, its container and state, whether it
-- is in a transaction, since how many seconds it has its state, and its statement; then for whom it
-- waits, who is at the end of that chain, for how many microseconds, for what, in which mode (of
-- an enqueue the lower bytes of P1 say that) and for a row of which object. It is a lock of rows,
-- tables or users (Application), or of a definition (Concurrency). OWNERID is 2147483644 but of the
-- servers of a parallel execution, which are nobody's. Ours are left out. The last column is how many
-- rows there are without the bound; those that are left out wait.
-- Database Reference: V$SESSION.
SELECT s.sid, s.serial#, s.inst_id, TO_CHAR(s.logon_time, 'YYYY-MM-DD HH24:MI:SS'), s.username,
       NVL(s.module, s.program), s.machine, s.con_id, s.type, s.status,
       CASE WHEN s.taddr IS NULL THEN 0 ELSE 1 END, s.last_call_et, NVL(s.sql_id, s.prev_sql_id),
       CASE WHEN s.state = 'WAITING' AND s.blocking_session_status = 'VALID' AND s.wait_class IN ('Application', 'Concurrency')
            THEN s.blocking_session END,
       s.blocking_instance, s.final_blocking_session, s.final_blocking_instance,
       s.wait_time_micro, s.event, s.p1, s.row_wait_obj#, COUNT(*) OVER ()
FROM gv$session s
WHERE s.ownerid = 2147483644
  AND (NVL(s.username, '-') <> SYS_CONTEXT('USERENV', 'SESSION_USER')
       OR NVL(s.program, '-') <> '@application@' AND NVL(s.module, '-') <> '@application@')
  AND (s.type = 'USER' AND s.state = 'WAITING' AND s.blocking_session_status = 'VALID' AND s.wait_class IN ('Application', 'Concurrency')
       OR EXISTS (SELECT 1 FROM gv$session w
                  WHERE w.state = 'WAITING' AND w.blocking_session_status = 'VALID' AND w.wait_class IN ('Application', 'Concurrency')
                    AND (w.blocking_session = s.sid AND w.blocking_instance = s.inst_id OR w.final_blocking_session = s.sid AND w.final_blocking_instance = s.inst_id)))
ORDER BY CASE WHEN s.blocking_session IS NULL THEN 0 ELSE 1 END, s.wait_time_micro DESC, s.sid
FETCH FIRST @most@ ROWS ONLY
