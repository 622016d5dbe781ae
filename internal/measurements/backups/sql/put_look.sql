-- What source $3 of server $2 in organization $1 said at $4, if that is newer than what is kept.
INSERT INTO backup_looks (organization_id, instance_id, source, at, state)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (organization_id, instance_id, source) DO UPDATE SET at = excluded.at, state = excluded.state
WHERE excluded.at > backup_looks.at
