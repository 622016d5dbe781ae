-- What a server $2 of organization $1 tells about its replication at $3, which is newer than what is kept.
INSERT INTO replication_states (organization_id, instance_id, at, role, role_since, condition, condition_since, lag_seconds, lag_bytes, retained_bytes, links, state)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (organization_id, instance_id) DO UPDATE SET
    at = excluded.at, role = excluded.role, role_since = excluded.role_since, condition = excluded.condition,
    condition_since = excluded.condition_since, lag_seconds = excluded.lag_seconds, lag_bytes = excluded.lag_bytes,
    retained_bytes = excluded.retained_bytes, links = excluded.links, state = excluded.state
