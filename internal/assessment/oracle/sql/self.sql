-- Oracle 12.2+: which container an assessment is in, and as whom
-- No view. CON_ID is 0 where there are no containers, and 1 in the root.
-- https://docs.oracle.com/en/database/oracle/oracle-database/19/sqlrf/SYS_CONTEXT.html
select sys_context('USERENV', 'CON_ID'), sys_context('USERENV', 'CON_NAME'), sys_context('USERENV', 'SESSION_USER'),
  sys_context('USERENV', 'ISDBA'), sys_context('USERENV', 'DATABASE_ROLE')
from dual
