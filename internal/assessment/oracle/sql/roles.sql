-- Oracle 12.2+: the roles of a container
-- DBA_ROLES.
-- https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/DBA_ROLES.html
select r.role, r.authentication_type, r.oracle_maintained
from dba_roles r
