-- With the last takeover of the statements, which are another package's (pgstore): who has
-- taken them over, when, and between which times nobody counted.
SELECT i.instance_id, i.error, i.missing_grants, r.name, r.version, r.host, r.buffer, r.loops, i.received_at,
    t.taken_at, t.since AS lost_from, t.resumed_at AS lost_to, coalesce(by.name, '') AS taken_by
FROM agent_servers i
JOIN agents r USING (organization_id, token_id, sender)
LEFT JOIN statement_turns t ON t.organization_id = i.organization_id AND t.instance_id = i.instance_id AND t.taken_at IS NOT NULL
LEFT JOIN agents by ON by.organization_id = t.organization_id AND by.token_id = t.token_id AND by.sender = t.sender
WHERE i.organization_id = $1 AND i.instance_id = ANY ($2)
