SELECT id, instance_id, advisory, first_at, last_at, ended_at, waiting, peak_at, seconds, root, ended_by
FROM blocking_episodes
WHERE organization_id = $1 AND instance_id = $2 AND advisory = $3 AND ended_at IS NULL AND last_at >= $4
ORDER BY first_at DESC
LIMIT 1
