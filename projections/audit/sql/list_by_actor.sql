-- The newest of each actor along entries_by_actor, and the newest of those; see
-- list_by_type.sql.
SELECT e.log, e.position, e.at, e.type, e.actor_id, e.subject, e.data
FROM (SELECT DISTINCT unnest($8::text[]) AS actor_id) AS wanted
CROSS JOIN LATERAL (
    SELECT *
    FROM audit_v3.entries AS e
    WHERE organization_id = $1 AND (actor_id, at) >= (wanted.actor_id, $2) AND (actor_id, at) < (wanted.actor_id, $3)
      AND (actor_id, at, log, position) < (wanted.actor_id, $4, $5, $6)
      AND (coalesce(cardinality($9::text[]), 0) = 0 OR type = ANY ($9))
      AND NOT type = ANY ($10::text[])
      {{seen}}
    ORDER BY actor_id DESC, at DESC, log DESC, position DESC
    LIMIT $7
) AS e
ORDER BY e.at DESC, e.log DESC, e.position DESC
LIMIT $7
