SELECT instance_id, classify, last_seen_at, last_assessed_at, last_classified_at,
       last_error_class, last_error, last_error_at, missing_grants
FROM assessment_targets
WHERE organization_id = $1 AND instance_id = ANY($2::uuid[])
