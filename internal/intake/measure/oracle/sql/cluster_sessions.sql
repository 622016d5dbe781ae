-- Oracle 12.2+, in a cluster: the client sessions of each container by what they do and wait for. A
-- session waits where STATE is WAITING, else it is on the CPU, whatever it waited for last;
-- one that is INACTIVE waits for its client, in class Idle. So does one that is ACTIVE and sleeps, or waits
-- for a message (DBMS_LOCK.SLEEP, queues, replication). OWNERID is 2147483644 but of the
-- servers of a parallel execution, which are nobody's. Ours do not count.
-- Sessions that do the same for the same people are one row: their event, user, program and
-- machine, and the SQL_ID of what they execute.
-- Database Reference: V$SESSION.
SELECT s.con_id, s.split, s.wait_class, COUNT(*), s.event, s.username, s.application, s.machine, s.sql_id
FROM (SELECT con_id,
             CASE WHEN status = 'ACTIVE' AND state = 'WAITING' AND wait_class <> 'Idle' THEN 'waiting'
                  WHEN status = 'ACTIVE' AND state <> 'WAITING' THEN 'active'
                  WHEN status IN ('ACTIVE', 'INACTIVE') AND taddr IS NULL THEN 'idle'
                  WHEN status IN ('ACTIVE', 'INACTIVE') THEN 'in transaction'
                  ELSE 'other' -- killed, cached for XA, sniped
             END AS split,
             CASE WHEN state = 'WAITING' THEN wait_class END AS wait_class,
             CASE WHEN state = 'WAITING' THEN event END AS event, username, NVL(module, program) AS application, machine,
             CASE WHEN status = 'ACTIVE' THEN sql_id END AS sql_id
      FROM gv$session
      WHERE type = 'USER' AND ownerid = 2147483644
        AND (NVL(username, '-') <> SYS_CONTEXT('USERENV', 'SESSION_USER')
             OR NVL(program, '-') <> '@application@' AND NVL(module, '-') <> '@application@')) s
GROUP BY s.con_id, s.split, s.wait_class, s.event, s.username, s.application, s.machine, s.sql_id
