-- Oracle 12.2+: sessions of others over TCP, and those of them that are encrypted
-- V$SESSION, V$SESSION_CONNECT_INFO; a banner of TCPS has SSL in it.
-- https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/V-SESSION_CONNECT_INFO.html
select count(*), coalesce(sum(x.secured), 0)
from (
  select s.sid, s.serial#, max(case when i.network_service_banner like '%SSL%' or i.network_service_banner like '%Encryption service adapter%' then 1 else 0 end) secured
  from v$session s
  join v$session_connect_info i on i.sid = s.sid and i.serial# = s.serial#
  where s.type = 'USER' and s.username is not null and s.sid <> to_number(sys_context('USERENV', 'SID'))
  group by s.sid, s.serial#
  having max(case when i.network_service_banner like 'TCP/IP%' then 1 else 0 end) = 1) x
