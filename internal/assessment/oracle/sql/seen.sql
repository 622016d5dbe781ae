-- Oracle 12.2+: the accounts that have a session now
-- V$SESSION.
-- https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/V-SESSION.html
select distinct s.username
from v$session s
where s.type = 'USER' and s.username is not null and s.sid <> to_number(sys_context('USERENV', 'SID'))
