SELECT kind,
       count(*) FILTER (WHERE dead_at IS NULL AND NOT (worker_id <> '' AND due_at > now())) AS queued,
       count(*) FILTER (WHERE dead_at IS NULL AND worker_id <> '' AND due_at > now()) AS running,
       count(*) FILTER (WHERE dead_at IS NOT NULL) AS dead,
       coalesce(EXTRACT(epoch FROM max(now() - due_at) FILTER (WHERE dead_at IS NULL AND due_at <= now())) * 1e9, 0)::bigint AS due
FROM jobs
WHERE $1::uuid IS NULL OR organization_id = $1
GROUP BY kind
