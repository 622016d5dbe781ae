-- By the index on organization and instance, as current.sql.
SELECT id, first_seen_at
FROM findings
WHERE organization_id = $1 AND instance_id = ANY ($2::uuid[]) AND gone_at IS NULL
