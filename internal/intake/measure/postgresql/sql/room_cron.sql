-- PostgreSQL 13 and newer with pg_cron 1.3 or newer: the runs of its jobs that failed in the last 24 hours, the newest first,
-- and how many there are, of its newest 10,000 runs: their history has an index on runid alone. Neither the command of a job
-- nor what it answered is read.
WITH recent AS MATERIALIZED (
    SELECT r.jobid, r.start_time
    FROM (SELECT jobid, status, start_time FROM cron.job_run_details ORDER BY runid DESC LIMIT 10000) r
    WHERE r.status = 'failed' AND r.start_time > now() - interval '24 hours'
)
SELECT json_build_object('failed', (SELECT count(*) FROM recent), 'jobs', coalesce((SELECT json_agg(f) FROM (
    SELECT coalesce(j.jobname, 'job ' || r.jobid) AS name, extract(epoch FROM r.start_time) AS at
    FROM recent r LEFT JOIN cron.job j USING (jobid)
    ORDER BY r.start_time DESC LIMIT @jobs@) f), '[]'))
