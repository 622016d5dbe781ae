INSERT INTO instance_states (organization_id, instance_id, state, told) VALUES ($1, $2, $3, $4)
ON CONFLICT (organization_id, instance_id) DO UPDATE SET state = excluded.state, told = excluded.told
