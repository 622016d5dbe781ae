-- SQL Server 2016+: every table that is somebody's, with what classification needs of it
-- sys.tables, sys.schemas, sys.partitions, sys.allocation_units, sys.security_policies, sys.security_predicates,
-- sys.database_permissions. VIEW DEFINITION in the database, which is asked before.
-- https://learn.microsoft.com/sql/relational-databases/system-catalog-views/object-catalog-views-transact-sql
-- has_perms_by_name says whether we may read the rows. Principal 0 is public.
select t.object_id, s.name, t.name,
  (select sum(p.rows) from sys.partitions p where p.object_id = t.object_id and p.index_id in (0, 1)),
  (select sum(a.total_pages) * 8192
    from sys.partitions p
    join sys.allocation_units a on a.type in (1, 3) and a.container_id = p.hobt_id or a.type = 2 and a.container_id = p.partition_id
    where p.object_id = t.object_id),
  has_perms_by_name(concat(quotename(s.name), N'.', quotename(t.name)), 'OBJECT', 'SELECT'),
  t.is_external, t.is_memory_optimized,
  (select count(*)
    from sys.security_predicates f
    join sys.security_policies q on q.object_id = f.object_id
    where f.target_object_id = t.object_id and q.is_enabled = 1 and f.predicate_type = 0),
  (select count(distinct g.grantee_principal_id)
    from sys.database_permissions g
    where g.grantee_principal_id > 0 and g.state in ('G', 'W') and g.permission_name in (N'SELECT', N'CONTROL')
      and (g.class = 0 or g.class = 3 and g.major_id = t.schema_id or g.class = 1 and g.major_id = t.object_id)),
  (select count(*)
    from sys.database_permissions g
    where g.grantee_principal_id = 0 and g.state in ('G', 'W') and g.permission_name in (N'SELECT', N'CONTROL')
      and (g.class = 0 or g.class = 3 and g.major_id = t.schema_id or g.class = 1 and g.major_id = t.object_id))
from sys.tables t
join sys.schemas s on s.schema_id = t.schema_id
where t.is_ms_shipped = 0
