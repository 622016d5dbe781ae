-- Oracle 12.2+, in a cluster: the client session with the oldest open transaction, and the one
-- that has been idle for longest in one.
-- A row is such a session, which may be both: its id and instance, its container, for how many
-- seconds its transaction has been open and, where it executes nothing, for how many it has been
-- idle; then its user, module or program, machine, the SQL_ID of what it executes or executed last,
-- and what it does. START_DATE is in the server's local time. OWNERID is 2147483644 but of the servers
-- of a parallel execution, which are nobody's. Ours do not count.
-- Database Reference: V$TRANSACTION (START_DATE, SES_ADDR), V$SESSION (LAST_CALL_ET).
SELECT o.sid, o.serial#, o.instance, o.con_id, o.open_seconds, o.idle_seconds, o.username, o.application, o.machine, o.sql_id, o.state
FROM (SELECT s.sid, s.serial#, s.inst_id AS instance, s.con_id, ROUND((CAST(SYSTIMESTAMP AS DATE) - t.start_date) * 86400) AS open_seconds,
             CASE WHEN s.status = 'INACTIVE' THEN s.last_call_et END AS idle_seconds, s.username, NVL(s.module, s.program) AS application, s.machine,
             NVL(s.sql_id, s.prev_sql_id) AS sql_id,
             CASE WHEN s.status = 'INACTIVE' THEN 'idleInTransaction'
                  WHEN s.status = 'ACTIVE' AND s.state = 'WAITING' THEN 'waiting'
                  WHEN s.status = 'ACTIVE' THEN 'cpu'
                  ELSE 'other'
             END AS state,
             ROW_NUMBER() OVER (ORDER BY t.start_date, s.sid) AS by_age,
             ROW_NUMBER() OVER (ORDER BY CASE WHEN s.status = 'INACTIVE' THEN s.last_call_et ELSE -1 END DESC, s.sid) AS by_idle
      FROM gv$transaction t
      JOIN gv$session s ON s.saddr = t.ses_addr AND s.inst_id = t.inst_id
      WHERE s.type = 'USER' AND s.ownerid = 2147483644
        AND (NVL(s.username, '-') <> SYS_CONTEXT('USERENV', 'SESSION_USER')
             OR NVL(s.program, '-') <> '@application@' AND NVL(s.module, '-') <> '@application@')) o
WHERE o.by_age = 1 OR o.by_idle = 1
