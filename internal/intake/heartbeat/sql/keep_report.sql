INSERT INTO agents (organization_id, token_id, sender, name, version, host, buffer, loops, received_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now())
ON CONFLICT (organization_id, token_id, sender) DO UPDATE
SET name = excluded.name, version = excluded.version, host = excluded.host, buffer = excluded.buffer, loops = excluded.loops, received_at = excluded.received_at
