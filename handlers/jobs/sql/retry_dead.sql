UPDATE jobs SET dead_at = NULL, attempts = 0, due_at = now(), queued_at = now()
WHERE id = $1 AND ($2::uuid IS NULL OR organization_id = $2) AND dead_at IS NOT NULL
