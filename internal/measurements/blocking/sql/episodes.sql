-- Episodes of instances ($2) that touch a time ($3 to $4), the newest first.
SELECT id, instance_id, advisory, first_at, last_at, ended_at, waiting, peak_at, seconds, root, count(*) OVER () AS total
FROM blocking_episodes
WHERE organization_id = $1 AND instance_id = ANY ($2::uuid[]) AND first_at < $4 AND greatest(last_at, ended_at) >= $3
ORDER BY first_at DESC, id DESC
LIMIT $5 OFFSET $6
