-- A new connection string makes the server due at once and frees a running
-- claim's hold: what the old connection finds must not be recorded as the new one's.
INSERT INTO assessment_targets (organization_id, instance_id, engine, sealed_dsn, classify)
VALUES ($1, $2, $3, $4, coalesce(nullif($5, ''), 'names'))
ON CONFLICT (organization_id, instance_id) DO UPDATE
SET engine             = excluded.engine,
    sealed_dsn         = excluded.sealed_dsn,
    classify           = coalesce(nullif($5, ''), assessment_targets.classify),
    next_assessment_at = now(),
    lease_token        = NULL,
    leased_until       = NULL
