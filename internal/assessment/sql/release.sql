UPDATE assessment_targets
SET lease_token = NULL, leased_until = NULL,
    next_assessment_at = CASE WHEN next_assessment_at <> $5 THEN next_assessment_at
                              ELSE now() + make_interval(secs => $4) END
WHERE organization_id = $1 AND instance_id = $2 AND lease_token = $3
