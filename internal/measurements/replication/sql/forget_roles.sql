DELETE FROM replication_roles WHERE (organization_id, instance_id, at) IN (
    SELECT organization_id, instance_id, at FROM replication_roles WHERE at < now() - make_interval(secs => $1) LIMIT $2
)
