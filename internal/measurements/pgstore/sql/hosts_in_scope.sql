-- The hosts of an organization; with a filter those whose newest sample names one of
-- the instances, or names none and which are called like the host of one.
SELECT id AS series_id, organization_id, kind, subject, engine, cardinality(instances) AS instances, coalesce((SELECT ready FROM head_state), false) AS ready
FROM measured_series
WHERE organization_id = $1 AND kind = 'host'
  AND ($2::boolean OR instances && $3::uuid[] OR (instances = '{}' AND subject = ANY ($4::text[])))
ORDER BY id
