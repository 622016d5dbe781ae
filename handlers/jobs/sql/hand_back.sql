-- The worker stops in good order: the attempt does not count, and the job is due at
-- once. $3: it had begun, which is noted.
UPDATE jobs SET
    due_at    = clock_timestamp(),
    fence     = nextval('job_fence'),
    endings   = CASE WHEN $3 THEN job_ending(endings, attempts, clock_timestamp(), worker_id, 'returned', '', '') ELSE endings END,
    worker_id = '',
    attempts  = greatest(attempts - 1, 0)
WHERE id = $1 AND fence = $2
