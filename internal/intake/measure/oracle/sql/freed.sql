-- Oracle 12.2+: what became of a session that held others up, asked once when nobody waits any
-- more: whether the session (@sid@, @serial@) is in a transaction. No row: there is no such session.
-- Database Reference: V$SESSION.
SELECT CASE WHEN s.taddr IS NULL THEN 0 ELSE 1 END
FROM v$session s
WHERE s.sid = @sid@ AND s.serial# = @serial@
