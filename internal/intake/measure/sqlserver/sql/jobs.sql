-- SQL Server 2016+: the runs of jobs of the Agent that failed in the last 24 hours, and their steps that failed, by the
-- server's clock. The history has its clustered index on instance_id, so that a look reads the 10000 newest rows after
-- @since, however long the history is.
-- run_date and run_time are numbers that are written like 20261129 and 63005, in the server's time.
--
-- sysjobhistory: relational-databases/system-tables/dbo-sysjobhistory-transact-sql
SELECT TOP (1000) h.instance_id, j.name, h.step_id, h.step_name, h.ago
FROM (
    SELECT TOP (10000) s.instance_id, s.job_id, s.step_id, s.step_name, s.run_status,
           CASE WHEN s.run_date > 19000000 THEN
                DATEDIFF(second, DATEADD(second, s.run_time / 10000 * 3600 + s.run_time / 100 % 100 * 60 + s.run_time % 100,
                    CONVERT(datetime, CONVERT(char(8), s.run_date), 112)), GETDATE()) END AS ago
    FROM msdb.dbo.sysjobhistory AS s
    WHERE s.instance_id > @since
    ORDER BY s.instance_id DESC
) AS h
JOIN msdb.dbo.sysjobs AS j ON j.job_id = h.job_id
WHERE h.run_status = 0 AND h.ago BETWEEN 0 AND 86400
ORDER BY h.instance_id DESC
