-- The teams that own servers of the events of a delivery.
SELECT DISTINCT owner::uuid
FROM delivery_events e
CROSS JOIN LATERAL (
    SELECT e.notice->'owner'->>'id' AS owner
    UNION ALL
    SELECT o->'owner'->>'id' FROM jsonb_array_elements(e.notice->'otherInstances') o
) owners
WHERE e.delivery_id = $1 AND e.organization_id = $2 AND e.dropped = '' AND owner IS NOT NULL
