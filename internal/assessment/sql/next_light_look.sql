-- SKIP LOCKED: collectors that ask at once each get another server. It is put off before it
-- is looked at: whoever dies meanwhile has left out one look. A server that is assessed now,
-- or never was, needs none.
--
-- Organizations take turns as in claim_due.sql: $3 get none, $4 come in that order.
WITH RECURSIVE organizations AS (
    (SELECT organization_id, next_light_look_at FROM assessment_targets
     WHERE EXISTS (SELECT FROM assessment_targets WHERE next_light_look_at <= now())
     ORDER BY organization_id, next_light_look_at
     LIMIT 1)
    UNION ALL
    SELECT first.organization_id, first.next_light_look_at
    FROM organizations CROSS JOIN LATERAL (
        SELECT t.organization_id, t.next_light_look_at FROM assessment_targets t
        WHERE t.organization_id > organizations.organization_id
        ORDER BY t.organization_id, t.next_light_look_at
        LIMIT 1) first
), turns AS MATERIALIZED (
    SELECT organization_id FROM organizations
    WHERE next_light_look_at <= now() AND organization_id <> ALL ($3::uuid[])
    ORDER BY coalesce(array_position($4::uuid[], organization_id), 0), next_light_look_at
), due AS MATERIALIZED (
    SELECT turns.organization_id, first.instance_id
    FROM turns CROSS JOIN LATERAL (
        SELECT instance_id FROM assessment_targets
        WHERE organization_id = turns.organization_id AND next_light_look_at <= now() AND engine = ANY ($2::text[])
          AND last_assessed_at IS NOT NULL AND (leased_until IS NULL OR leased_until <= now())
        ORDER BY next_light_look_at
        LIMIT 1
        FOR UPDATE SKIP LOCKED) first
    LIMIT 1
)
UPDATE assessment_targets t
SET next_light_look_at = now() + make_interval(secs => $1)
FROM due
WHERE t.organization_id = due.organization_id AND t.instance_id = due.instance_id
RETURNING t.organization_id, t.instance_id
