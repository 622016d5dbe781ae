INSERT INTO exceptions (id, organization_id, status, check_id, instance_id, database_id, object_ref, reason, until,
                        requested_by, requested_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
