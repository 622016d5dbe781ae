-- Moves signs to where a judgement found that they belong: those that are still as
-- it saw them. A row that somebody is writing is left to the next judgement instead
-- of waited for, so that intake and watch cannot lock each other out.
WITH mine AS (
    SELECT m.*
    FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[],
                $8::timestamptz[], $9::timestamptz[], $10::timestamptz[], $11::boolean[])
        AS m (organization_id, rule, instance_id, mount, was_at, was_since, was_until, since, until, pending, forgotten)
    JOIN signs s USING (organization_id, rule, instance_id, mount)
    WHERE s.at = m.was_at AND s.since IS NOT DISTINCT FROM m.was_since AND s.until IS NOT DISTINCT FROM m.was_until
    FOR UPDATE OF s SKIP LOCKED
)
UPDATE signs s
SET since = m.since,
    until = m.until,
    pending = m.pending,
    value = CASE WHEN NOT m.forgotten THEN s.value END
FROM mine m
WHERE s.organization_id = m.organization_id AND s.rule = m.rule AND s.instance_id = m.instance_id AND s.mount = m.mount
RETURNING s.organization_id, s.rule, s.instance_id, s.mount
