-- What nobody has measured for long (a volume that is gone) or what was forgotten. Rows that
-- somebody writes can go another time. With them goes what was observed of single databases (package status):
-- they may be gone, too.
WITH gone AS (DELETE FROM observations WHERE strpos(part, '/') > 0 AND tried_at < $1)
DELETE FROM signs WHERE (organization_id, rule, instance_id, mount) IN (
    SELECT organization_id, rule, instance_id, mount FROM signs
    WHERE (since IS NULL OR rule = 'host') AND at < $1
    FOR UPDATE SKIP LOCKED
)
