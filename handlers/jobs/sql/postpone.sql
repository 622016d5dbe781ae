UPDATE jobs SET
    due_at    = $3,
    queued_at = $3,
    fence     = nextval('job_fence'),
    worker_id = '',
    attempts  = 0,
    endings   = '[]'
WHERE id = $1 AND fence = $2
