-- SKIP LOCKED: collectors that ask at once each get another server. It is put off before it
-- is looked at: whoever dies meanwhile has left out one look. A server that is assessed now,
-- or never was, needs none.
UPDATE assessment_targets t
SET next_light_look_at = now() + make_interval(secs => $1)
FROM (SELECT organization_id, instance_id
      FROM assessment_targets
      WHERE next_light_look_at <= now() AND engine = ANY ($2::text[])
        AND last_assessed_at IS NOT NULL AND (leased_until IS NULL OR leased_until <= now())
      ORDER BY next_light_look_at
      LIMIT 1
      FOR UPDATE SKIP LOCKED) due
WHERE t.organization_id = due.organization_id AND t.instance_id = due.instance_id
RETURNING t.organization_id, t.instance_id
