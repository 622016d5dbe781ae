-- Oracle 12.2+: the runs of the scheduler's jobs that failed in the last 24 hours, the newest first, and how many there
-- are in all. They are those of the container that the session is in. The scheduler keeps its log for 30 days unless
-- somebody sets another time. Ages are in seconds, by the server's clock.
-- Database Reference: DBA_SCHEDULER_JOB_RUN_DETAILS.
SELECT d.owner || '.' || d.job_name, d.error#,
       ROUND((CAST(SYS_EXTRACT_UTC(SYSTIMESTAMP) AS DATE) - CAST(SYS_EXTRACT_UTC(d.log_date) AS DATE)) * 86400), COUNT(*) OVER ()
FROM dba_scheduler_job_run_details d
WHERE d.status = 'FAILED' AND d.log_date > SYSTIMESTAMP - INTERVAL '1' DAY
ORDER BY d.log_date DESC
FETCH FIRST 50 ROWS ONLY
