SELECT kind,
       count(*) FILTER (WHERE dead_at IS NULL AND NOT (worker_id <> '' AND due_at > now())) AS queued,
       count(*) FILTER (WHERE dead_at IS NULL AND worker_id <> '' AND due_at > now()) AS running,
       count(*) FILTER (WHERE dead_at IS NOT NULL) AS dead
FROM jobs
WHERE $1::uuid IS NULL OR organization_id = $1
GROUP BY kind
