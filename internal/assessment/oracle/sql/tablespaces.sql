-- Oracle 12.2+: how many tablespaces with users' data a container has, and how many are encrypted
-- DBA_TABLESPACES.
-- https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/DBA_TABLESPACES.html
select count(*), coalesce(sum(case when t.encrypted = 'YES' then 1 else 0 end), 0)
from dba_tablespaces t
where t.contents = 'PERMANENT' and t.tablespace_name not in ('SYSTEM', 'SYSAUX')
