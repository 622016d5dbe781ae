-- The worker stops in good order: the attempt does not count, and the job is due at once.
UPDATE jobs SET
    due_at    = clock_timestamp(),
    fence     = nextval('job_fence'),
    worker_id = '',
    attempts  = greatest(attempts - 1, 0)
WHERE id = $1 AND fence = $2
