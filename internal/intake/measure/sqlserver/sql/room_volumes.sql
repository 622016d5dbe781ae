-- SQL Server 2016+: the volumes that files of databases are on, of the first 1,000 files.
-- The function asks the operating system for each of them.
-- On Linux, a volume has no mount point: it is known by its size, and by a database on it.
--
-- sys.dm_io_virtual_file_stats: relational-databases/system-dynamic-management-views/sys-dm-io-virtual-file-stats-transact-sql
-- sys.dm_os_volume_stats: relational-databases/system-dynamic-management-views/sys-dm-os-volume-stats-transact-sql
SELECT COALESCE(v.volume_mount_point, ''), MIN(DB_NAME(f.database_id)), v.total_bytes, MIN(v.available_bytes), COUNT(*)
FROM (
    SELECT TOP (1000) s.database_id, s.file_id
    FROM (SELECT CONVERT(int, NULL) AS every) AS o
    CROSS APPLY sys.dm_io_virtual_file_stats(o.every, NULL) AS s
    ORDER BY s.database_id, s.file_id
) AS f
CROSS APPLY sys.dm_os_volume_stats(f.database_id, f.file_id) AS v
WHERE v.is_read_only = 0
GROUP BY COALESCE(v.volume_mount_point, ''), v.total_bytes
