-- What passes a filter by tags, of what ids or names leave; without either, of all. A key that an
-- instance lacks is NULL, which matches nothing.
SELECT id FROM fleet_v3.instances
WHERE organization_id = $1
  AND (coalesce(cardinality($2::uuid[]), 0) + coalesce(cardinality($3::text[]), 0) = 0 OR id = ANY ($2) OR name = ANY ($3))
  AND NOT EXISTS (SELECT FROM jsonb_each($4::jsonb) AS wanted (key, of) WHERE (wanted.of ? (tags -> wanted.key ->> 'value')) IS NOT TRUE)
ORDER BY id
