-- Oracle 12.2+: who has which role of a container
-- DBA_ROLE_PRIVS.
-- https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/DBA_ROLE_PRIVS.html
select p.grantee, p.granted_role, max(p.admin_option)
from dba_role_privs p
group by p.grantee, p.granted_role
