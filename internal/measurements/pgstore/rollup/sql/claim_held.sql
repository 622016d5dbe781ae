-- Claims the hour that has been dirty for the longest time, and waits for it: its
-- writers may be so busy that whoever only looks never finds its series free.
SELECT s.id AS series_id, s.organization_id, s.kind, s.subject, s.engine, d.hour AS start
FROM dirty_hours d
JOIN measured_series s ON s.id = d.series_id
WHERE d.due <= now() AND d.since < now() - interval '5 seconds'
ORDER BY d.since
LIMIT $1
FOR NO KEY UPDATE OF s
