-- SKIP LOCKED: collectors that ask at once each get another instance.
--
-- Organizations take turns (internal/concurrency/fairslots): those in $3 get none, those in $4 come in that
-- order, and all others before them. The index assessment_targets_turns gives each
-- organization's first server at one look; where nothing is due, none is looked at.
WITH RECURSIVE organizations AS (
    (SELECT organization_id, next_assessment_at FROM assessment_targets
     WHERE EXISTS (SELECT FROM assessment_targets
                   WHERE next_assessment_at <= now() AND (leased_until IS NULL OR leased_until <= now()))
     ORDER BY organization_id, next_assessment_at
     LIMIT 1)
    UNION ALL
    SELECT first.organization_id, first.next_assessment_at
    FROM organizations CROSS JOIN LATERAL (
        SELECT t.organization_id, t.next_assessment_at FROM assessment_targets t
        WHERE t.organization_id > organizations.organization_id
        ORDER BY t.organization_id, t.next_assessment_at
        LIMIT 1) first
), turns AS MATERIALIZED (
    SELECT organization_id FROM organizations
    WHERE next_assessment_at <= now() AND organization_id <> ALL ($3::uuid[])
    ORDER BY coalesce(array_position($4::uuid[], organization_id), 0), next_assessment_at
), due AS MATERIALIZED (
    SELECT turns.organization_id, first.instance_id
    FROM turns CROSS JOIN LATERAL (
        SELECT instance_id FROM assessment_targets
        WHERE organization_id = turns.organization_id AND next_assessment_at <= now()
          AND (leased_until IS NULL OR leased_until <= now())
        ORDER BY next_assessment_at
        LIMIT 1
        FOR UPDATE SKIP LOCKED) first
    LIMIT 1
)
UPDATE assessment_targets t
SET lease_token = $1, leased_until = now() + make_interval(secs => $2)
FROM due
WHERE t.organization_id = due.organization_id AND t.instance_id = due.instance_id
RETURNING t.organization_id, t.instance_id, t.lease_token, t.next_assessment_at
