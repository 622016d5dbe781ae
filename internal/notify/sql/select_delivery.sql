SELECT id, organization_id, rule_id, channel_id, status, due_at, closed_at FROM deliveries WHERE organization_id = $1 AND id = $2
