-- Keeps which server answers for an instance ($1, $2), where something is other than what
-- is kept ($9: it is another server). A name that leads to two servers in turn is written
-- at each turn, so that moved_at is the last.
INSERT INTO server_identities (organization_id, instance_id, engine, system_id, process_id, role, pooling, separate, told_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, coalesce($8::boolean, false), $10)
ON CONFLICT (organization_id, instance_id) DO UPDATE
SET engine = excluded.engine, system_id = excluded.system_id, process_id = excluded.process_id, role = excluded.role, pooling = excluded.pooling, told_by = excluded.told_by,
    separate = coalesce($8::boolean, server_identities.separate), seen_at = now(),
    moved_at = CASE WHEN $9 THEN now() WHEN $8::boolean IS NULL THEN server_identities.moved_at END
