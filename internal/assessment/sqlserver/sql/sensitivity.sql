-- SQL Server 2019+: the columns that the owner has labelled
-- sys.sensitivity_classifications. VIEW ANY SENSITIVITY CLASSIFICATION; else there are no rows.
-- https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-sensitivity-classifications-transact-sql
select s.name, t.name, c.name, coalesce(convert(nvarchar(128), x.information_type), N''), coalesce(convert(nvarchar(128), x.label), N''), coalesce(x.rank, 0)
from sys.sensitivity_classifications x
join sys.tables t on t.object_id = x.major_id
join sys.schemas s on s.schema_id = t.schema_id
join sys.columns c on c.object_id = t.object_id and c.column_id = x.minor_id
