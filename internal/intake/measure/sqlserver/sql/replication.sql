-- SQL Server 2016+: the replicas of the availability groups here: how many databases of each are behind, and by how much.
--
-- A primary replica tells of all replicas, a secondary one of itself alone. Names are in the views of the cluster, which need
-- no further permission. How commits wait is in the catalog, and NULL if we may not see that. Queues are in kilobytes.
--
-- sys.dm_hadr_availability_replica_cluster_states: relational-databases/system-dynamic-management-views/sys-dm-hadr-availability-replica-cluster-states-transact-sql
-- sys.dm_hadr_availability_replica_states: relational-databases/system-dynamic-management-views/sys-dm-hadr-availability-replica-states-transact-sql
-- sys.dm_hadr_name_id_map: relational-databases/system-dynamic-management-views/sys-dm-hadr-name-id-map-transact-sql
-- sys.dm_hadr_database_replica_states: relational-databases/system-dynamic-management-views/sys-dm-hadr-database-replica-states-transact-sql
-- sys.availability_replicas: relational-databases/system-catalog-views/sys-availability-replicas-transact-sql
SELECT TOP (100)
       LOWER(CONVERT(nvarchar(36), s.group_id)), m.ag_name, LOWER(CONVERT(nvarchar(36), s.replica_id)), c.replica_server_name,
       CONVERT(int, s.is_local), s.role_desc, s.connected_state_desc, s.synchronization_health_desc, a.availability_mode_desc,
       d.databases, d.suspended, d.reason, d.state, d.send_kb, d.redo_kb, d.lag,
       s.last_connect_error_description, g.primary_replica
FROM sys.dm_hadr_availability_replica_states AS s
LEFT JOIN sys.dm_hadr_availability_replica_cluster_states AS c ON c.replica_id = s.replica_id AND c.group_id = s.group_id
LEFT JOIN sys.dm_hadr_name_id_map AS m ON m.ag_id = s.group_id
LEFT JOIN sys.dm_hadr_availability_group_states AS g ON g.group_id = s.group_id
LEFT JOIN sys.availability_replicas AS a ON a.replica_id = s.replica_id AND a.group_id = s.group_id
LEFT JOIN (
    SELECT r.group_id, r.replica_id, COUNT(*) AS databases, SUM(CASE WHEN r.is_suspended = 1 THEN 1 ELSE 0 END) AS suspended,
           MAX(CASE WHEN r.is_suspended = 1 THEN r.suspend_reason_desc END) AS reason,
           MIN(CASE r.synchronization_state WHEN 0 THEN '0 NOT SYNCHRONIZING' WHEN 3 THEN '1 REVERTING' WHEN 4 THEN '2 INITIALIZING'
               WHEN 1 THEN '3 SYNCHRONIZING' WHEN 2 THEN '4 SYNCHRONIZED' END) AS state,
           SUM(r.log_send_queue_size) AS send_kb, SUM(r.redo_queue_size) AS redo_kb, MAX(r.secondary_lag_seconds) AS lag
    FROM sys.dm_hadr_database_replica_states AS r
    GROUP BY r.group_id, r.replica_id
) AS d ON d.group_id = s.group_id AND d.replica_id = s.replica_id
ORDER BY s.is_local DESC, s.synchronization_health, s.replica_id
