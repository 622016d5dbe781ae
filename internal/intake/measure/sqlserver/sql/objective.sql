-- SQL Server in Azure (SQL Database): the service objective of the database, which says whether it pauses when nobody uses it.
--
-- DATABASEPROPERTYEX (ServiceObjective): t-sql/functions/databasepropertyex-transact-sql
SELECT COALESCE(CONVERT(nvarchar(128), DATABASEPROPERTYEX(DB_NAME(), 'ServiceObjective')), '')
