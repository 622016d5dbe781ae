-- SQL Server 2016+, Azure SQL Database alone: the database that we are in
-- sys.databases, sys.database_files. A session sees its own database and master.
-- https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-databases-transact-sql
-- https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-database-files-transact-sql
select d.name, suser_sname(d.owner_sid), d.state_desc, 1, d.is_encrypted, (select sum(convert(bigint, f.size)) * 8192 from sys.database_files f), 0, 0
from sys.databases d
where d.name = db_name()
