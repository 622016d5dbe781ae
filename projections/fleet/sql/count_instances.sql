SELECT count(*)
FROM fleet_v3.instances
WHERE organization_id = $1
  AND (coalesce(cardinality($2::uuid[]), 0) = 0 OR id = ANY ($2))
  AND (coalesce(cardinality($3::text[]), 0) = 0 OR engine = ANY ($3))
  AND ($4::boolean IS NULL OR active = $4)
  AND ($5 = '' OR position(lower($5) IN lower(name)) > 0
               OR position(lower($5) IN lower(host)) > 0
               OR position(lower($5) IN lower(external_id)) > 0
               OR position(lower($5) IN lower(version)) > 0
               OR position(lower(replace($5, ' ', '')) IN engine) > 0)
  AND {{tags}}
