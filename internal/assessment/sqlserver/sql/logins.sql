-- SQL Server 2016+: logins and roles of the server
-- sys.server_principals. VIEW ANY DEFINITION; else one sees oneself and the fixed roles.
-- https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-server-principals-transact-sql
select p.principal_id, p.name, p.type, p.is_disabled, case when p.sid = 0x01 then 1 else 0 end
from sys.server_principals p
