SELECT id, instance_id, advisory, first_at, last_at, ended_at, waiting, peak_at, seconds, root, ended_by
FROM blocking_episodes
WHERE organization_id = $1 AND id = $2
