UPDATE assessment_targets
SET lease_token = $3, leased_until = now() + make_interval(secs => $4)
WHERE organization_id = $1 AND instance_id = $2
  AND attempts = $5
  AND (leased_until IS NULL OR leased_until <= now())
RETURNING organization_id, instance_id, lease_token, next_assessment_at
