-- The newest of each type along entries_by_type, and the newest of those. One row
-- comparison holds type, time and place, for that index alone has them in this
-- order: with "type =" the planner walks all entries where the statistics know
-- one type only.
SELECT e.log, e.position, e.at, e.type, e.actor_id, e.subject, e.data
FROM (SELECT DISTINCT unnest($8::text[]) AS type) AS wanted
CROSS JOIN LATERAL (
    SELECT *
    FROM audit_v3.entries AS e
    WHERE organization_id = $1 AND (type, at) >= (wanted.type, $2) AND (type, at) < (wanted.type, $3)
      AND (type, at, log, position) < (wanted.type, $4, $5, $6)
      {{seen}}
    ORDER BY type DESC, at DESC, log DESC, position DESC
    LIMIT $7
) AS e
ORDER BY e.at DESC, e.log DESC, e.position DESC
LIMIT $7
