DELETE FROM jobs
WHERE id = $1 AND ($2::uuid IS NULL OR organization_id = $2) AND dead_at IS NOT NULL
