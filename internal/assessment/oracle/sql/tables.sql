-- Oracle 12.2+: every table that is somebody's, with what classification needs of it
-- DBA_TABLES, DBA_TABLESPACES, DBA_USERS, DBA_TAB_PRIVS, DBA_POLICIES. A table in the cluster of another, and what belongs to
-- an index or to a table's column, is left out.
-- https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/DBA_TABLES.html
select t.owner, t.table_name, t.num_rows, t.blocks * s.block_size, t.external,
  (select count(*) from dba_policies p where p.object_owner = t.owner and p.object_name = t.table_name and p.enable = 'YES' and p.sel = 'YES'),
  (select count(distinct p.grantee) from dba_tab_privs p
    where p.owner = t.owner and p.table_name = t.table_name and p.privilege in ('SELECT', 'READ') and p.grantee <> 'PUBLIC'),
  (select count(*) from dba_tab_privs p
    where p.owner = t.owner and p.table_name = t.table_name and p.privilege in ('SELECT', 'READ') and p.grantee = 'PUBLIC')
from dba_tables t
join dba_users u on u.username = t.owner
left join dba_tablespaces s on s.tablespace_name = t.tablespace_name
where u.oracle_maintained = 'N' and t.nested = 'NO' and t.secondary = 'N' and t.dropped = 'NO' and t.temporary = 'N'
  and (t.iot_type is null or t.iot_type = 'IOT')
