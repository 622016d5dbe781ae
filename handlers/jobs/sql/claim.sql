-- One job that is due: never run, to be tried again, or with a lease that lapsed
-- because its worker died. Counting here rather than at the end sets aside a job
-- that kills its worker. A new fence shuts out whoever held it before.
WITH next AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE kind = $1 AND dead_at IS NULL AND due_at <= now()
    ORDER BY due_at, id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
UPDATE jobs SET
    attempts  = jobs.attempts + 1,
    fence     = nextval('job_fence'),
    worker_id = $2,
    due_at    = clock_timestamp() + make_interval(secs => $3)
FROM next
WHERE jobs.id = next.id
RETURNING jobs.id, jobs.organization_id, jobs.kind, jobs.subject, jobs.key, jobs.payload, jobs.metadata,
          jobs.attempts, jobs.fence, jobs.worker_id, jobs.last_error, jobs.step, jobs.total_steps, jobs.label,
          now() AS claimed_at,
          EXTRACT(epoch FROM now() - jobs.queued_at)::float8 AS age_seconds
