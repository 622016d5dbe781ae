-- Oracle 12.2+: the columns of every table that is somebody's
-- DBA_TAB_COLUMNS, DBA_TABLES, DBA_USERS.
-- https://docs.oracle.com/en/database/oracle/oracle-database/19/refrn/DBA_TAB_COLUMNS.html
select c.owner, c.table_name, c.column_name, c.data_type, c.char_length, c.data_precision, c.data_scale
from dba_tab_columns c
join dba_tables t on t.owner = c.owner and t.table_name = c.table_name
join dba_users u on u.username = c.owner
where u.oracle_maintained = 'N'
order by c.owner, c.table_name, c.column_id
