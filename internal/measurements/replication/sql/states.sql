-- The newest states of organization $1 that have one of the links $4: of the instances $3 where $2 is true, else of all.
SELECT instance_id, at, role_since, state
FROM replication_states
WHERE organization_id = $1 AND (NOT $2 OR instance_id = ANY ($3)) AND links && $4
ORDER BY instance_id
