-- $7: the claim was an attempt, whose ending is noted. Else it was one to bury the
-- job, which did not come about. $8: the database cut it off, and it does not count.
UPDATE jobs SET
    due_at     = clock_timestamp() + make_interval(secs => $3),
    fence      = nextval('job_fence'),
    attempts   = $6 - CASE WHEN $8 THEN 1 ELSE 0 END,
    endings    = CASE WHEN $7 THEN job_ending(endings, $6, clock_timestamp(), worker_id,
                                              CASE WHEN $8 THEN 'interrupted' ELSE 'failed' END, $5, $4)
                      ELSE endings END,
    worker_id  = '',
    last_error = CASE WHEN $7 THEN $4 ELSE last_error END
WHERE id = $1 AND fence = $2
