-- The newest changes of roles in organization $1 from $4 to $5, at most $6: of the instances $3 where $2 is true, else of all.
SELECT instance_id, at, was, role, timeline
FROM replication_roles
WHERE organization_id = $1 AND (NOT $2 OR instance_id = ANY ($3)) AND at >= $4 AND at < $5
ORDER BY at DESC, instance_id
LIMIT $6
