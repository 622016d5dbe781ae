-- SKIP LOCKED: collectors that ask at once each get another instance.
UPDATE assessment_targets t
SET lease_token = $1, leased_until = now() + make_interval(secs => $2)
FROM (SELECT organization_id, instance_id
      FROM assessment_targets
      WHERE next_assessment_at <= now()
        AND (leased_until IS NULL OR leased_until <= now())
      ORDER BY next_assessment_at
      LIMIT 1
      FOR UPDATE SKIP LOCKED) due
WHERE t.organization_id = due.organization_id AND t.instance_id = due.instance_id
RETURNING t.organization_id, t.instance_id, t.lease_token, t.next_assessment_at
