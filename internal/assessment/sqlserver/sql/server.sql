-- SQL Server 2016+: what the server is, and who we are there
-- Reads no view. EngineEdition 5 is Azure SQL Database, 12 one of Fabric, 6 and 11 are Synapse.
-- https://learn.microsoft.com/sql/t-sql/functions/serverproperty-transact-sql
select original_login(), convert(int, serverproperty('EngineEdition')), convert(nvarchar(128), serverproperty('ProductVersion')),
  convert(nvarchar(128), serverproperty('Edition')), convert(nvarchar(128), serverproperty('ProductLevel')),
  convert(nvarchar(128), serverproperty('ProductUpdateLevel')), is_srvrolemember('sysadmin'), is_rolemember('db_owner')
