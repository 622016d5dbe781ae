SELECT notice, count(*) OVER () AS all_of_them
FROM delivery_events
WHERE delivery_id = $1 AND dropped = '' AND (NOT $3 OR type LIKE 'alert.%')
  AND ($4::uuid[] IS NULL OR (notice->'owner'->>'id')::uuid = ANY ($4)
       OR EXISTS (SELECT FROM jsonb_array_elements(notice->'otherInstances') o WHERE (o->'owner'->>'id')::uuid = ANY ($4)))
ORDER BY at, position, event_id
LIMIT $2
