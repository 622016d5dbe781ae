-- SQL Server 2016+: the databases of the server but tempdb, model and snapshots, with sizes
-- They are those that are measured, for both looks tell the fleet of them: clients are in
-- master and msdb, too. The last column says which are the server's own.
-- sys.databases (VIEW ANY DATABASE), sys.master_files (VIEW ANY DEFINITION; else there is no size).
-- https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-databases-transact-sql
-- https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-master-files-transact-sql
select d.name, suser_sname(d.owner_sid), d.state_desc, has_dbaccess(d.name), d.is_encrypted,
  (select sum(convert(bigint, f.size)) * 8192 from sys.master_files f where f.database_id = d.database_id),
  case when d.replica_id is null then 0 else 1 end, case when d.database_id <= 4 then 1 else 0 end
from sys.databases d
where d.database_id not in (2, 3) and d.database_id < 32761 and d.source_database_id is null
