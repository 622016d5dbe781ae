-- Episodes of all instances, or where $2 is set of some ($3), that touch a time ($4 to $5), the newest first.
SELECT id, instance_id, advisory, first_at, last_at, ended_at, waiting, peak_at, seconds, root, ended_by, count(*) OVER () AS total
FROM blocking_episodes
WHERE organization_id = $1 AND (NOT $2 OR instance_id = ANY ($3::uuid[])) AND first_at < $5 AND greatest(last_at, ended_at) >= $4
ORDER BY first_at DESC, id DESC
LIMIT $6 OFFSET $7
