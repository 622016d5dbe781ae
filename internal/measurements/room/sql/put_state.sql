-- The look at a server $2 of organization $1 at $3, if it is newer than what is kept.
INSERT INTO room_states (organization_id, instance_id, at, state) VALUES ($1, $2, $3, $4)
ON CONFLICT (organization_id, instance_id) DO UPDATE SET at = excluded.at, state = excluded.state WHERE room_states.at < excluded.at
