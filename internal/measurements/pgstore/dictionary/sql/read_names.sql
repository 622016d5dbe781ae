-- The names of hashes ($3).
SELECT hash, name
FROM measured_names
WHERE organization_id = $1 AND dimension = $2 AND hash = ANY ($3::bigint[])
