-- Claims hours with their series that are over ($4), of which nothing has come for a while ($5)
-- and that are not compacted, the oldest first. Those of series that have waited for blocks
-- are tried at once: only then is it known that the series waits no longer. What the head lost
-- in a crash is made anew before.
SELECT s.id AS series_id, s.organization_id, s.kind, s.subject, s.engine, h.hour AS start
FROM measured_hours h
JOIN measured_series s ON s.id = h.series_id
WHERE NOT h.compacted AND (h.hour, h.series_id) > ($3::timestamptz, $2::bigint)
  AND h.hour < now() - $4::interval
  AND (h.arrived_at < now() - $5::interval OR EXISTS (SELECT FROM series_away a WHERE a.series_id = h.series_id))
  AND NOT EXISTS (SELECT FROM dirty_hours d WHERE d.series_id = h.series_id AND d.hour = h.hour)
  AND EXISTS (SELECT FROM head_state)
ORDER BY h.hour, h.series_id
LIMIT $1
FOR NO KEY UPDATE OF s SKIP LOCKED
