-- Claims an hour with its series, where it is dirty.
SELECT s.id AS series_id, s.organization_id, s.kind, s.subject, s.engine, d.hour AS start
FROM dirty_hours d
JOIN measured_series s ON s.id = d.series_id
WHERE d.series_id = $2 AND d.hour = $3 AND d.due <= now()
LIMIT $1
FOR NO KEY UPDATE OF s SKIP LOCKED
