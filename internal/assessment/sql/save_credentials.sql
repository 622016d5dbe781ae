-- A new connection string makes the server due at once and frees a running
-- claim's hold: what the old connection finds must not be recorded as the new one's.
-- Nothing is saved that was sealed under a retired key ($6): a process with an
-- old key file would lose it.
INSERT INTO assessment_targets (organization_id, instance_id, engine, sealed_dsn, classify, own)
SELECT $1::uuid, $2::uuid, $3::text, $4::bytea, coalesce(nullif($5::text, ''), 'names'), $7::boolean
WHERE NOT EXISTS (SELECT FROM installation_keys k WHERE k.fingerprint = $6 AND k.retired_at IS NOT NULL)
ON CONFLICT (organization_id, instance_id) DO UPDATE
SET engine             = excluded.engine,
    sealed_dsn         = excluded.sealed_dsn,
    classify           = coalesce(nullif($5, ''), assessment_targets.classify),
    own                = excluded.own,
    next_assessment_at = now(),
    lease_token        = NULL,
    leased_until       = NULL
