-- The newest figures of organization $1 that are not older than $4: of the instances $3 where $2 is true, else of all.
SELECT instance_id, at, role, condition, condition_since, lag_seconds, lag_bytes, retained_bytes
FROM replication_states
WHERE organization_id = $1 AND (NOT $2 OR instance_id = ANY ($3)) AND at >= $4
ORDER BY instance_id
