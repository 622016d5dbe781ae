-- Oracle 18+: the service of Oracle's cloud that an assessed database is in, which only an Autonomous Database has
-- No view. DWCS, OLTP and JDCS are services of Autonomous Database; elsewhere it is null. A release that does not know
-- CLOUD_SERVICE refuses it (ORA-02003).
-- https://docs.oracle.com/en/database/oracle/oracle-database/23/sqlrf/SYS_CONTEXT.html
select sys_context('USERENV', 'CLOUD_SERVICE')
from dual
