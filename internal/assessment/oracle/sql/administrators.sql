-- Oracle 12.2+: who may sign in past the database's own accounts, by the password file
-- V$PWFILE_USERS.
-- https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/V-PWFILE_USERS.html
select distinct f.username
from v$pwfile_users f
where f.sysdba = 'TRUE'
