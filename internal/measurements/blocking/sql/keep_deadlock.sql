-- The newest one with its sides stays. The same one again changes nothing.
INSERT INTO blocking_deadlocks AS d (organization_id, instance_id, database, reported, slot, at, count, tree)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (organization_id, instance_id, database, reported, slot) DO UPDATE SET at = excluded.at, count = excluded.count, tree = excluded.tree
WHERE d.at < excluded.at
