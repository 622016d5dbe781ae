-- The series of hosts by their names.
SELECT id AS series_id, organization_id, kind, subject, engine, cardinality(instances) AS instances, true AS ready
FROM measured_series
WHERE organization_id = $1 AND kind = 'host' AND subject = ANY ($2::text[])
