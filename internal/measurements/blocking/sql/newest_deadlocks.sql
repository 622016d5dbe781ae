-- The newest deadlock with sides of each database, of all instances, or where $2 is set of some ($3), in a time ($4 to $5).
SELECT DISTINCT ON (instance_id, database) instance_id, database, reported, at, tree
FROM blocking_deadlocks
WHERE organization_id = $1 AND (NOT $2 OR instance_id = ANY ($3::uuid[])) AND at >= $4 AND at < $5 AND tree IS NOT NULL
ORDER BY instance_id, database, at DESC, reported DESC
