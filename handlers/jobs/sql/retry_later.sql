UPDATE jobs SET
    due_at     = clock_timestamp() + make_interval(secs => $3),
    fence      = nextval('job_fence'),
    worker_id  = '',
    last_error = $4
WHERE id = $1 AND fence = $2
