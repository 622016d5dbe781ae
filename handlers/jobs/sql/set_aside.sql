UPDATE jobs SET
    dead_at    = clock_timestamp(),
    fence      = nextval('job_fence'),
    worker_id  = '',
    last_error = $3
WHERE id = $1 AND fence = $2
