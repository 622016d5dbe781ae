-- Oracle 12.2+: the parameters of the instance
-- V$PARAMETER: one that begins with _ is listed only where it was set.
-- https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/V-PARAMETER.html
select p.name, p.value
from v$parameter p
