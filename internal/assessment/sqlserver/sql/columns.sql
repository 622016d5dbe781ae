-- SQL Server 2016+: the columns of every table that is somebody's
-- sys.columns, sys.tables, sys.types. VIEW DEFINITION in the database, which is asked before.
-- https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-columns-transact-sql
-- A type of the owner's is of a base type. What is encrypted by the client, or masked from us, shows no values.
select c.object_id, c.name, coalesce(b.name, y.name), c.max_length, c.precision, c.scale,
  case when c.encryption_type is not null or c.is_masked = 1 and coalesce(has_perms_by_name(db_name(), 'DATABASE', 'UNMASK'), 0) = 0 then 1 else 0 end
from sys.columns c
join sys.tables t on t.object_id = c.object_id
join sys.types y on y.user_type_id = c.user_type_id
left join sys.types b on b.user_type_id = c.system_type_id
where t.is_ms_shipped = 0
order by c.object_id, c.column_id
