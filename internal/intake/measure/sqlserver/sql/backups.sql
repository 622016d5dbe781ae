-- SQL Server 2016+: of each database of the users, for how long it has been there, and the newest backup of each type that
-- msdb knows of the last @hours hours. Times are ages in seconds, by the server's clock. A backup by another server's
-- name came with a restored file. A copy-only one is no part of anybody's plan, unless it is a snapshot: tools that
-- freeze volumes take those.
--
-- sys.databases: relational-databases/system-catalog-views/sys-databases-transact-sql
-- backupset: relational-databases/system-tables/backupset-transact-sql
SELECT TOP (10000) d.name, DATEDIFF(second, d.create_date, GETDATE()), d.recovery_model,
       CASE WHEN d.replica_id IS NULL THEN 0 ELSE 1 END, b.type, b.ago, b.took, b.bytes, b.is_snapshot
FROM sys.databases AS d
LEFT JOIN (
    SELECT s.database_name, s.type, CONVERT(int, s.is_snapshot) AS is_snapshot,
           CASE WHEN s.time_zone BETWEEN -48 AND 56
                THEN DATEDIFF(second, DATEADD(minute, -15 * s.time_zone, s.backup_finish_date), SYSUTCDATETIME())
                ELSE DATEDIFF(second, s.backup_finish_date, GETDATE()) END AS ago,
           DATEDIFF(second, s.backup_start_date, s.backup_finish_date) AS took,
           CONVERT(bigint, COALESCE(s.compressed_backup_size, s.backup_size)) AS bytes,
           ROW_NUMBER() OVER (PARTITION BY s.database_name, s.type ORDER BY s.backup_finish_date DESC) AS newest
    FROM msdb.dbo.backupset AS s
    WHERE s.backup_finish_date >= DATEADD(hour, -@hours, GETDATE()) AND s.type IN ('D', 'I', 'L') AND s.is_damaged = 0
      AND (s.is_copy_only = 0 OR s.is_snapshot = 1 OR s.type = 'L') AND s.server_name = (SELECT @@SERVERNAME)
) AS b ON b.database_name = d.name AND b.newest = 1
WHERE d.database_id > 4 AND d.source_database_id IS NULL AND d.state = 0
ORDER BY d.database_id
