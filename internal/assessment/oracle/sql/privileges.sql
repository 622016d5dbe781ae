-- Oracle 12.2+: who has which privilege on a container as a whole
-- DBA_SYS_PRIVS.
-- https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/DBA_SYS_PRIVS.html
select p.grantee, p.privilege, max(p.admin_option)
from dba_sys_privs p
group by p.grantee, p.privilege
