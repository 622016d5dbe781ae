-- Oracle 12.2+: the newest RMAN job of each kind in the last 35 days that ended well, and the newest that did not.
-- Times are ages in seconds, by the server's clock. The view belongs to no pack.
-- Database Reference: V$RMAN_BACKUP_JOB_DETAILS.
SELECT j.input_type, j.well, ROUND((SYSDATE - j.end_time) * 86400), ROUND((j.end_time - j.start_time) * 86400), j.output_bytes
FROM (
    SELECT d.input_type, d.well, d.start_time, d.end_time, d.output_bytes,
           ROW_NUMBER() OVER (PARTITION BY d.input_type, d.well ORDER BY d.end_time DESC) AS newest
    FROM (
        SELECT r.input_type, r.start_time, r.end_time, r.output_bytes, CASE WHEN r.status LIKE 'COMPLETED%' THEN 1 ELSE 0 END AS well
        FROM v$rman_backup_job_details r
        WHERE r.end_time > SYSDATE - 35 AND r.input_type IN ('DB FULL', 'DB INCR', 'ARCHIVELOG') AND r.status NOT LIKE 'RUNNING%'
    ) d
) j
WHERE j.newest = 1
