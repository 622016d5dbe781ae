-- SQL Server 2016+, Azure SQL Database alone: what our user may see in the database it is in
-- Reads no view. There, HAS_PERMS_BY_NAME knows the classes DATABASE, OBJECT, ROLE, SCHEMA and USER only.
-- https://learn.microsoft.com/sql/t-sql/functions/has-perms-by-name-transact-sql
select r.name, coalesce(r.granted, 0)
from (values
  (N'membership in public', 1),
  (N'VIEW ANY DEFINITION', has_perms_by_name(db_name(), 'DATABASE', 'VIEW DEFINITION')),
  (N'VIEW ANY SENSITIVITY CLASSIFICATION', has_perms_by_name(db_name(), 'DATABASE', 'VIEW ANY SENSITIVITY CLASSIFICATION')),
  (N'VIEW DEFINITION in the database', has_perms_by_name(db_name(), 'DATABASE', 'VIEW DEFINITION')),
  (N'VIEW ANY DATABASE', 1),
  (N'VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE', has_perms_by_name(db_name(), 'DATABASE', 'VIEW DATABASE STATE')),
  (N'VIEW SERVER STATE, from 2022 on VIEW SERVER PERFORMANCE STATE', has_perms_by_name(db_name(), 'DATABASE', 'VIEW DATABASE STATE')),
  (N'VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE and VIEW SERVER PERFORMANCE STATE',
    has_perms_by_name(db_name(), 'DATABASE', 'VIEW DATABASE STATE'))) r (name, granted)
