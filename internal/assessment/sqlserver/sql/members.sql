-- SQL Server 2016+: who is in which role of the server
-- sys.server_role_members. VIEW ANY DEFINITION.
-- https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-server-role-members-transact-sql
select m.member_principal_id, m.role_principal_id
from sys.server_role_members m
