-- Claims hours with their series of which nothing has arrived for $4, the oldest
-- first. No hour that is more than an hour younger can be one: a sample arrives after the hour it is of
-- begins, or its sender's clock is minutes ahead.
SELECT s.id AS series_id, s.organization_id, s.kind, s.subject, s.engine, h.hour AS start
FROM measured_hours h
JOIN measured_series s ON s.id = h.series_id
WHERE (h.hour, h.series_id) > ($3::timestamptz, $2::bigint)
  AND h.hour < now() - ($4::interval - interval '1 hour')
  AND h.arrived_at < now() - $4::interval
  AND h.compacted
  AND NOT EXISTS (SELECT FROM dirty_hours d WHERE d.series_id = h.series_id AND d.hour = h.hour)
ORDER BY h.hour, h.series_id
LIMIT $1
FOR NO KEY UPDATE OF s SKIP LOCKED
