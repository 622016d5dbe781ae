UPDATE jobs SET due_at = clock_timestamp() + make_interval(secs => $3)
WHERE id = $1 AND fence = $2
