SELECT id, organization_id, kind, subject, key, payload, due_at AS run_at,
       CASE WHEN dead_at IS NOT NULL THEN 'dead'
            WHEN worker_id <> '' AND due_at > now() THEN 'running'
            ELSE 'queued' END AS status,
       attempts, worker_id,
       CASE WHEN worker_id <> '' THEN due_at END AS leased_until,
       dead_at, last_error, endings, step, total_steps, label
FROM jobs
WHERE ($1::uuid IS NULL OR organization_id = $1)
  AND (cardinality($2::text[]) = 0 OR kind = ANY ($2))
  AND (cardinality($3::uuid[]) = 0 OR subject = ANY ($3))
  AND ($4::uuid IS NULL OR id = $4)
  AND (NOT $5 OR dead_at IS NOT NULL)
ORDER BY id
LIMIT $6
