-- $8: the pass has reached the end, and the next one begins.
UPDATE log_verifications SET
    position = CASE WHEN $8 THEN 0 ELSE $3::bigint END,
    hash = CASE WHEN $8 THEN NULL ELSE $4::bytea END,
    recorded_at = CASE WHEN $8 THEN NULL ELSE $5::timestamptz END,
    whole_at = CASE WHEN $8 THEN begun_at ELSE whole_at END,
    whole_position = CASE WHEN $8 THEN $3::bigint ELSE whole_position END,
    begun_at = CASE WHEN $8 THEN clock_timestamp() ELSE begun_at END,
    findings = $6::jsonb, due_at = clock_timestamp() + make_interval(secs => $7)
WHERE log = $1 AND fence = $2
