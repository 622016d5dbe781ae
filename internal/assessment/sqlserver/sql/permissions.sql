-- SQL Server 2016+: permissions on the server itself
-- sys.server_permissions: class 100 is the server, D denies. VIEW ANY DEFINITION.
-- https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-server-permissions-transact-sql
select p.grantee_principal_id, p.permission_name, p.state_desc
from sys.server_permissions p
where p.class = 100
