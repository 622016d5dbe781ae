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
--
-- Organizations take turns (internal/concurrency/fairslots): those in $7 get no job, those in $8 come in
-- that order, and all others before them. The index jobs_turns gives each organization's
-- first job at one look, however many wait behind it; where nothing is due, none is looked at.
WITH RECURSIVE organizations AS (
    (SELECT organization_id, due_at FROM jobs
     WHERE kind = $1 AND dead_at IS NULL
       AND EXISTS (SELECT FROM jobs WHERE kind = $1 AND dead_at IS NULL AND due_at <= now())
     ORDER BY organization_id, due_at
     LIMIT 1)
    UNION ALL
    SELECT first.organization_id, first.due_at
    FROM organizations CROSS JOIN LATERAL (
        SELECT j.organization_id, j.due_at FROM jobs j
        WHERE j.kind = $1 AND j.dead_at IS NULL AND j.organization_id > organizations.organization_id
        ORDER BY j.organization_id, j.due_at
        LIMIT 1) first
), turns AS MATERIALIZED (
    SELECT organization_id FROM organizations
    WHERE due_at <= now() AND organization_id <> ALL ($7::uuid[])
    ORDER BY coalesce(array_position($8::uuid[], organization_id), 0), due_at
), next AS MATERIALIZED (
    SELECT due.id FROM turns CROSS JOIN LATERAL (
        SELECT id FROM jobs
        WHERE kind = $1 AND organization_id = turns.organization_id AND dead_at IS NULL AND due_at <= now()
          AND (worker_id = '' OR due_at + make_interval(secs => $6 * least((
              SELECT count(*) FROM jsonb_array_elements(endings) WITH ORDINALITY AS e (ending, n)
              WHERE n > coalesce((SELECT max(m) FROM jsonb_array_elements(endings) WITH ORDINALITY AS f (ending, m)
                                  WHERE f.ending ->> 'how' IN ('failed', 'returned')), 0)), 3) ^ 4) <= now())
        ORDER BY due_at, id
        LIMIT 1
        FOR UPDATE SKIP LOCKED) due
    LIMIT 1
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
