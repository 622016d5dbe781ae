SELECT c.id, c.organization_id, c.name, c.kind, to_json(c.member_ids)::text AS member_ids, c.administrators, c.sealed, c.created_at, c.created_by,
       coalesce((SELECT json_agg(json_build_object('id', r.id, 'name', r.name) ORDER BY lower(r.name), r.id)
                 FROM notification_rules r
                 WHERE r.organization_id = c.organization_id AND r.removed_at IS NULL AND r.terms->'channelIds' ? c.id::text), '[]')::text AS rules,
       (SELECT json_build_object('id', d.id, 'status', d.status, 'lastCode', d.last_code, 'at', d.status_at)
        FROM deliveries d WHERE d.channel_id = c.id AND d.status IN ('sent', 'failed') ORDER BY d.status_at DESC LIMIT 1)::text AS last
FROM notification_channels c
WHERE c.organization_id = $1 AND c.removed_at IS NULL AND ($2::uuid IS NULL OR c.id = $2)
ORDER BY lower(c.name), c.id
