-- SQL Server 2016+: what our login may see, from the database it is in
-- Reads no view. A permission that the release does not know gives null.
-- https://learn.microsoft.com/sql/t-sql/functions/has-perms-by-name-transact-sql
-- https://learn.microsoft.com/sql/relational-databases/security/permissions-database-engine
select r.name, coalesce(r.granted, 0)
from (values
  (N'membership in public', 1),
  (N'VIEW ANY DEFINITION', has_perms_by_name(null, null, 'VIEW ANY DEFINITION')),
  (N'VIEW ANY DATABASE', has_perms_by_name(null, null, 'VIEW ANY DATABASE')),
  (N'VIEW ANY DEFINITION, or CREATE DATABASE or ALTER ANY DATABASE',
    case when 1 in (
      has_perms_by_name(null, null, 'VIEW ANY DEFINITION'), has_perms_by_name(null, null, 'CREATE ANY DATABASE'),
      has_perms_by_name(null, null, 'ALTER ANY DATABASE')) then 1 end),
  (N'VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE',
    case when 1 in (has_perms_by_name(null, null, 'VIEW SERVER STATE'), has_perms_by_name(null, null, 'VIEW SERVER SECURITY STATE')) then 1 end),
  (N'VIEW SERVER STATE, from 2022 on VIEW SERVER PERFORMANCE STATE',
    case when 1 in (has_perms_by_name(null, null, 'VIEW SERVER STATE'), has_perms_by_name(null, null, 'VIEW SERVER PERFORMANCE STATE')) then 1 end),
  (N'VIEW SERVER STATE, from 2022 on VIEW SERVER SECURITY STATE and VIEW SERVER PERFORMANCE STATE',
    case when has_perms_by_name(null, null, 'VIEW SERVER STATE') = 1
      or has_perms_by_name(null, null, 'VIEW SERVER SECURITY STATE') = 1 and has_perms_by_name(null, null, 'VIEW SERVER PERFORMANCE STATE') = 1 then 1 end),
  (N'CONTROL SERVER, from 2022 on VIEW ANY CRYPTOGRAPHICALLY SECURED DEFINITION',
    case when 1 in (
      has_perms_by_name(null, null, 'CONTROL SERVER'), has_perms_by_name(null, null, 'VIEW ANY CRYPTOGRAPHICALLY SECURED DEFINITION')) then 1 end),
  (N'VIEW ANY SENSITIVITY CLASSIFICATION', has_perms_by_name(db_name(), 'DATABASE', 'VIEW ANY SENSITIVITY CLASSIFICATION')),
  (N'VIEW DEFINITION in the database', has_perms_by_name(db_name(), 'DATABASE', 'VIEW DEFINITION')),
  (N'VIEW DEFINITION in master', has_perms_by_name('master', 'DATABASE', 'VIEW DEFINITION')),
  (N'VIEW DEFINITION in msdb', has_perms_by_name('msdb', 'DATABASE', 'VIEW DEFINITION')),
  (N'SELECT on msdb.dbo.backupset', has_perms_by_name('msdb.dbo.backupset', 'OBJECT', 'SELECT')),
  (N'SELECT on msdb.dbo.suspect_pages', has_perms_by_name('msdb.dbo.suspect_pages', 'OBJECT', 'SELECT')),
  (N'SELECT on msdb.dbo.sysalerts', has_perms_by_name('msdb.dbo.sysalerts', 'OBJECT', 'SELECT')),
  (N'SELECT on msdb.dbo.sysproxylogin', has_perms_by_name('msdb.dbo.sysproxylogin', 'OBJECT', 'SELECT')),
  (N'SELECT on msdb.dbo.sysproxies', has_perms_by_name('msdb.dbo.sysproxies', 'OBJECT', 'SELECT'))) r (name, granted)
