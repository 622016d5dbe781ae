-- The first content of a sample stays.
INSERT INTO blocking_samples (organization_id, instance_id, advisory, at, waiting, seconds, root, tree, ended_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT DO NOTHING
