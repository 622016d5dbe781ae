-- Oracle 12.2+: the accounts of a container, and when their passwords end in microseconds since 1970
-- DBA_USERS; EXPIRY_DATE is the server's local time, and nobody knows which one: a day is what is meant.
-- https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/DBA_USERS.html
select u.username, u.account_status, u.authentication_type, trim(u.password_versions), u.profile, u.oracle_maintained,
  round((u.expiry_date - date '1970-01-01') * 86400) * 1000000
from dba_users u
