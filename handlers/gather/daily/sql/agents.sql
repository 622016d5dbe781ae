-- When the agents were heard last that measure some servers ($2) of organization $1.
SELECT a.received_at FROM agents a
WHERE a.organization_id = $1 AND EXISTS (
    SELECT FROM agent_servers s
    WHERE s.organization_id = $1 AND s.token_id = a.token_id AND s.sender = a.sender AND s.instance_id = ANY ($2::uuid[]))
ORDER BY a.received_at
