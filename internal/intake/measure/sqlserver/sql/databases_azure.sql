-- SQL Server in Azure (SQL Database): the one database that a connection is to, and its query store.
--
-- Its number is that of the sessions on it; sys.databases has another one there.
--
-- sys.databases: relational-databases/system-catalog-views/sys-databases-transact-sql
-- DB_ID: t-sql/functions/db-id-transact-sql
SELECT DB_ID(), d.name, d.state, 1, COALESCE(d.is_query_store_on, 0)
FROM sys.databases AS d
WHERE d.name = DB_NAME()
