-- SQL Server 2016+: the options of the server, by the values in use
-- sys.configurations; membership in public shows all rows.
-- https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-configurations-transact-sql
select c.name, convert(nvarchar(100), c.value_in_use)
from sys.configurations c
