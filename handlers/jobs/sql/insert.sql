-- A job that waits is pulled forward when the new one is due earlier (assess now,
-- though the next round is in six hours); one that was set aside starts afresh; one
-- that a worker holds is left alone.
INSERT INTO jobs (id, organization_id, kind, subject, key, payload, metadata, due_at, queued_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, COALESCE($8, now()) + make_interval(secs => $9), COALESCE($8, now()))
ON CONFLICT ON CONSTRAINT jobs_once DO UPDATE SET
    due_at    = CASE WHEN jobs.dead_at IS NULL THEN LEAST(jobs.due_at, excluded.due_at) ELSE excluded.due_at END,
    queued_at = CASE WHEN jobs.dead_at IS NULL THEN LEAST(jobs.queued_at, excluded.queued_at) ELSE excluded.queued_at END,
    attempts  = CASE WHEN jobs.dead_at IS NULL THEN jobs.attempts ELSE 0 END,
    endings   = CASE WHEN jobs.dead_at IS NULL THEN jobs.endings ELSE '[]' END,
    payload   = CASE WHEN jobs.dead_at IS NULL THEN jobs.payload ELSE excluded.payload END,
    metadata  = CASE WHEN jobs.dead_at IS NULL THEN jobs.metadata ELSE excluded.metadata END,
    dead_at   = NULL
WHERE jobs.worker_id = ''
