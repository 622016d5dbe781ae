SELECT r.id, r.organization_id, r.name, r.terms, r.created_at, c.id AS channel_id, c.kind
FROM notification_rules r
JOIN notification_channels c ON c.organization_id = r.organization_id AND c.removed_at IS NULL AND r.terms->'channelIds' ? c.id::text
WHERE r.organization_id = ANY ($1::uuid[]) AND r.removed_at IS NULL
ORDER BY r.id, c.id
