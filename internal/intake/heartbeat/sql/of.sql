SELECT i.instance_id, i.error, i.missing_grants, r.name, r.version, r.host, r.buffer, i.received_at
FROM agent_instances i
JOIN agent_reports r USING (organization_id, sender)
WHERE i.organization_id = $1 AND i.instance_id = ANY ($2)
