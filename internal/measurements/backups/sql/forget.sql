DELETE FROM backup_days WHERE (organization_id, instance_id, database_id, whole, day) IN (
    SELECT organization_id, instance_id, database_id, whole, day FROM backup_days WHERE day < (now() - make_interval(secs => $1))::date LIMIT $2
)
