-- $6: the claim was an attempt, whose ending is noted. Else it was one to bury the
-- job, and does not count as an attempt.
UPDATE jobs SET
    dead_at    = clock_timestamp(),
    fence      = nextval('job_fence'),
    attempts   = $5,
    endings    = CASE WHEN $6 THEN job_ending(endings, $5, clock_timestamp(), worker_id, 'failed', $4, $3) ELSE endings END,
    worker_id  = '',
    last_error = $3
WHERE id = $1 AND fence = $2
