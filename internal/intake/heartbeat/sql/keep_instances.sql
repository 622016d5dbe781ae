-- In the order of ids, in which everybody who keeps some does.
INSERT INTO agent_servers (organization_id, instance_id, token_id, sender, error, missing_grants, received_at)
SELECT $1, i.instance_id, $2, $3, nullif(i.error, '')::json, i.missing_grants::json, now()
FROM unnest($4::uuid[], $5::text[], $6::text[]) AS i (instance_id, error, missing_grants)
ORDER BY i.instance_id
ON CONFLICT (organization_id, instance_id) DO UPDATE
SET token_id = excluded.token_id, sender = excluded.sender, error = excluded.error, missing_grants = excluded.missing_grants, received_at = excluded.received_at
