-- SQL Server 2022+: under which numbers the query store of a database keeps what its primary replicas did.
--
-- After a failover a replica has another number. 1 is a primary, 3 that of a geo-replica.
--
-- sys.query_store_replicas: relational-databases/system-catalog-views/sys-query-store-replicas-transact-sql
SELECT DISTINCT r.replica_group_id
FROM {database}.sys.query_store_replicas AS r
WHERE r.role_id IN (1, 3)
