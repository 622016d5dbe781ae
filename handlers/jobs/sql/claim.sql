-- One job that is due: never run, to be tried again, or with a lease that lapsed
-- before its worker said what came of it, which is noted. Counting here rather than
-- at the end sets aside a job that kills its worker: the claim behind the last of
-- $4 attempts (0: no bound) is one to bury it, and neither counts nor is noted. A
-- new fence shuts out whoever held it before.
WITH next AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE kind = $1 AND dead_at IS NULL AND due_at <= now()
    ORDER BY due_at, id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
)
UPDATE jobs SET
    attempts  = CASE WHEN $4::int > 0 THEN least(jobs.attempts, $4) ELSE jobs.attempts END + 1,
    endings   = CASE WHEN jobs.worker_id <> '' AND ($4 = 0 OR jobs.attempts <= $4)
                     THEN job_ending(jobs.endings, jobs.attempts, jobs.due_at, jobs.worker_id, 'lost', '', '')
                     ELSE jobs.endings END,
    fence     = nextval('job_fence'),
    worker_id = $2,
    due_at    = clock_timestamp() + make_interval(secs => $3)
FROM next
WHERE jobs.id = next.id
RETURNING jobs.id, jobs.organization_id, jobs.kind, jobs.subject, jobs.key, jobs.payload, jobs.metadata,
          jobs.attempts, jobs.fence, jobs.worker_id, jobs.endings,
          now() AS claimed_at, now() AS run_at,
          (EXTRACT(epoch FROM now() - jobs.queued_at) * 1e9)::bigint AS age
