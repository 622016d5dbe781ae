INSERT INTO blocking_episodes (organization_id, id, instance_id, advisory, first_at, last_at, ended_at, waiting, peak_at, seconds, root, ended_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (organization_id, id) DO UPDATE
SET first_at = excluded.first_at, last_at = excluded.last_at, ended_at = excluded.ended_at, waiting = excluded.waiting,
    peak_at = excluded.peak_at, seconds = excluded.seconds, root = excluded.root, ended_by = excluded.ended_by
