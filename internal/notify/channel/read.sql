SELECT notice, count(*) OVER () AS all_of_them
FROM delivery_events
WHERE delivery_id = $1 AND organization_id = $2 AND dropped = '' AND (NOT $4 OR type LIKE 'alert.%')
  AND ($5::uuid[] IS NULL OR (notice->'owner'->>'id')::uuid = ANY ($5)
       OR EXISTS (SELECT FROM jsonb_array_elements(notice->'otherInstances') o WHERE (o->'owner'->>'id')::uuid = ANY ($5)))
ORDER BY at, position, event_id
LIMIT $3
