-- One job that is due: never run, to be tried again, or with a lease that lapsed
-- before its worker said what came of it, which is noted. Counting here rather than
-- at the end sets aside a job that kills its worker: the claim behind the last of
-- $4 attempts (0: no bound) is one to bury it, and neither counts nor is noted. A
-- new fence shuts out whoever held it before.
--
-- An attempt whose worker is there ($5, see present.sql), or whose lease lapsed while
-- the server was down, was kept from saying what came of it by the database: it does
-- not count. The first lapsed lease is claimed at once, the next ones wait n⁴ times $6
-- seconds longer, for an n of 1, 2 and then 3.
WITH next AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE kind = $1 AND dead_at IS NULL AND due_at <= now()
      AND (worker_id = '' OR due_at + make_interval(secs => $6 * least((
          SELECT count(*) FROM jsonb_array_elements(endings) WITH ORDINALITY AS e (ending, n)
          WHERE n > coalesce((SELECT max(m) FROM jsonb_array_elements(endings) WITH ORDINALITY AS f (ending, m)
                              WHERE f.ending ->> 'how' IN ('failed', 'returned')), 0)), 3) ^ 4) <= now())
    ORDER BY due_at, id
    LIMIT 1
    FOR UPDATE SKIP LOCKED
), judged AS MATERIALIZED (
    SELECT jobs.id, jobs.worker_id <> '' AND ($4 = 0 OR jobs.attempts <= $4) AS ended,
           CASE WHEN jobs.worker_id <> '' THEN
               pg_postmaster_start_time() > jobs.due_at OR EXISTS (
                   SELECT FROM pg_locks
                   WHERE locktype = 'advisory' AND granted AND objsubid = 1
                     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                     AND (classid::bigint << 32) | objid::bigint = hashtextextended(jobs.worker_id, $5))
           ELSE false END AS interrupted
    FROM jobs JOIN next ON next.id = jobs.id
)
UPDATE jobs SET
    attempts  = CASE WHEN $4::int > 0 THEN least(jobs.attempts, $4) ELSE jobs.attempts END
                + CASE WHEN judged.ended AND judged.interrupted THEN 0 ELSE 1 END,
    endings   = CASE WHEN judged.ended
                     THEN job_ending(jobs.endings, jobs.attempts, jobs.due_at, jobs.worker_id,
                                     CASE WHEN judged.interrupted THEN 'interrupted' ELSE 'lost' END, '', '')
                     ELSE jobs.endings END,
    fence     = nextval('job_fence'),
    worker_id = $2,
    due_at    = clock_timestamp() + make_interval(secs => $3)
FROM judged
WHERE jobs.id = judged.id
RETURNING jobs.id, jobs.organization_id, jobs.kind, jobs.subject, jobs.key, jobs.payload, jobs.metadata,
          jobs.attempts, jobs.fence, jobs.worker_id, jobs.endings,
          now() AS claimed_at, now() AS run_at,
          (EXTRACT(epoch FROM now() - jobs.queued_at) * 1e9)::bigint AS age
