-- What passes a filter by tags, of what ids or names leave; without either, of all.
SELECT id FROM fleet_v3.instances
WHERE organization_id = $1
  AND (coalesce(cardinality($2::uuid[]), 0) + coalesce(cardinality($3::text[]), 0) = 0 OR id = ANY ($2) OR name = ANY ($3))
  AND {{tags}}
ORDER BY id
