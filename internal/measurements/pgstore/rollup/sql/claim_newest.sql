-- Claims dirty hours with their series, the newest hour first. A row locked by
-- somebody else is passed over, one locked by ourselves is not.
SELECT s.id AS series_id, s.organization_id, s.kind, s.subject, s.engine, d.hour AS start
FROM dirty_hours d
JOIN measured_series s ON s.id = d.series_id
WHERE d.due <= now()
ORDER BY d.hour DESC
LIMIT $1
FOR NO KEY UPDATE OF s SKIP LOCKED
