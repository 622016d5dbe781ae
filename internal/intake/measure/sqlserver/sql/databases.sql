-- SQL Server 2016+: the databases, their states, whether we may look into them, and their query stores.
--
-- What is left out: tempdb (2), model, which is a template (3), the system databases of contained
-- availability groups (from 32761 on), and snapshots of databases. They
-- are those that are assessed, for both looks tell the fleet of them. Nothing looks into a database that
-- closes when nobody uses it (AUTO_CLOSE), which would open it: it counts by the plan cache. A database that is
-- away has a row where our login may see it.
--
-- sys.databases: relational-databases/system-catalog-views/sys-databases-transact-sql
-- HAS_DBACCESS: t-sql/functions/has-dbaccess-transact-sql
SELECT d.database_id, d.name, d.state, CASE WHEN d.is_auto_close_on = 1 THEN 0 ELSE COALESCE(HAS_DBACCESS(d.name), 0) END,
       CASE WHEN d.is_auto_close_on = 1 THEN 0 ELSE COALESCE(d.is_query_store_on, 0) END
FROM sys.databases AS d
WHERE d.database_id NOT IN (2, 3) AND d.database_id < 32761 AND d.source_database_id IS NULL
ORDER BY d.database_id
