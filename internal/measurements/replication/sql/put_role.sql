INSERT INTO replication_roles (organization_id, instance_id, at, was, role, timeline)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING
