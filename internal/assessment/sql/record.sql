UPDATE assessment_targets
SET lease_token        = NULL,
    leased_until       = NULL,
    attempts           = attempts + 1,
    -- Moved since it was claimed: somebody asked for another look meanwhile.
    next_assessment_at = CASE WHEN next_assessment_at <> $10 THEN next_assessment_at
                              ELSE now() + make_interval(secs => $4) END,
    last_seen_at       = CASE WHEN $5::boolean THEN now() ELSE last_seen_at END,
    last_assessed_at   = CASE WHEN $5::boolean THEN now() ELSE last_assessed_at END,
    last_classified_at = CASE WHEN $6::boolean THEN now() ELSE last_classified_at END,
    last_error_class   = $7,
    last_error         = $8,
    last_error_at      = CASE WHEN $5::boolean THEN NULL ELSE now() END,
    failing_since      = CASE WHEN $5::boolean THEN NULL ELSE coalesce(failing_since, now()) END,
    -- What is missing is known only from a look; a server out of reach keeps its list.
    missing_grants     = CASE WHEN $5::boolean THEN $9::json ELSE missing_grants END,
    standby            = CASE WHEN $5::boolean THEN $11 ELSE standby END,
    upstream           = CASE WHEN $5::boolean THEN $12 ELSE upstream END
WHERE organization_id = $1 AND instance_id = $2 AND lease_token = $3
