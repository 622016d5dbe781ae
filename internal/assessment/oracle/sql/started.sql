-- Oracle 12.2+: how long the instance runs, in seconds, and its edition
-- V$INSTANCE; STARTUP_TIME and SYSDATE are the server's local time, so that their difference is right.
-- https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/V-INSTANCE.html
select round((sysdate - i.startup_time) * 86400), i.edition
from v$instance i
