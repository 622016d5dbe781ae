-- Oracle 12.2+: where backups may be that no job of RMAN for the whole database tells of: on another database of a
-- Data Guard configuration, in snapshots of Amazon RDS, or of single pluggable databases and files. Asked only if
-- there is no recent job.
-- Database Reference: LOG_ARCHIVE_CONFIG (DG_CONFIG names the databases), V$PARAMETER, ALL_USERS, V$RMAN_BACKUP_JOB_DETAILS.
SELECT 'standby'
FROM v$parameter
WHERE name = 'log_archive_config' AND value LIKE '%,%'
UNION ALL
SELECT 'snapshots'
FROM all_users
WHERE username = 'RDSADMIN'
UNION ALL
SELECT 'parts'
FROM dual
WHERE EXISTS (
    SELECT 1 FROM v$rman_backup_job_details r
    WHERE r.input_type IN ('DATAFILE FULL', 'DATAFILE INCR') AND r.status LIKE 'COMPLETED%' AND r.end_time > SYSDATE - 8)
