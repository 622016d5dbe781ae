SELECT id AS series_id, organization_id, kind, subject, engine
FROM measured_series
WHERE organization_id = $1 AND kind = $2 AND engine = $3
ORDER BY id
