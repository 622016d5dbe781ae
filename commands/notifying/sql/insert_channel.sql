INSERT INTO notification_channels (id, organization_id, name, kind, member_ids, administrators, sealed, created_at, created_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
