-- Of the same size there is one where a key has come that has not signed it yet.
INSERT INTO log_checkpoints (log, size, root, note, made_at) VALUES ($1, $2, $3, $4, clock_timestamp())
ON CONFLICT (log, size) DO UPDATE SET note = excluded.note
RETURNING made_at
