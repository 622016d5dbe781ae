-- SQL Server 2016+: the databases of availability groups here, and whether this is their primary replica.
--
-- sys.dm_hadr_database_replica_states: relational-databases/system-dynamic-management-views/sys-dm-hadr-database-replica-states-transact-sql
SELECT r.database_id, CONVERT(int, r.is_primary_replica)
FROM sys.dm_hadr_database_replica_states AS r
WHERE r.is_local = 1
