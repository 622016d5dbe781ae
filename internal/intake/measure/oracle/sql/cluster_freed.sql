-- Oracle 12.2+, in a cluster: what became of a session that held others up, asked once when nobody
-- waits any more: whether the session (@sid@, @serial@, @instance@) is in a transaction. No row:
-- there is no such session.
-- Database Reference: V$SESSION.
SELECT CASE WHEN s.taddr IS NULL THEN 0 ELSE 1 END
FROM gv$session s
WHERE s.sid = @sid@ AND s.serial# = @serial@ AND s.inst_id = @instance@
