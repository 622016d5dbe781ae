SELECT c.id, c.organization_id, c.name, c.kind, to_json(c.member_ids)::text AS member_ids, c.administrators, c.sealed,
       c.removed_at IS NOT NULL AS channel_removed, r.name AS rule_name, r.removed_at IS NOT NULL AS rule_removed,
       (r.terms->>'enabled')::boolean AS rule_enabled
FROM notification_rules r, notification_channels c
WHERE r.id = $1 AND c.id = $2 AND r.organization_id = $3 AND c.organization_id = $3
