-- Claims hours with their series whose raw samples are in blocks and that were not sealed
-- within a day of the retention of raw samples ($4), because samples of them went on to come.
SELECT s.id AS series_id, s.organization_id, s.kind, s.subject, s.engine, h.hour AS start
FROM measured_hours h
JOIN measured_series s ON s.id = h.series_id
WHERE h.packed AND (h.hour, h.series_id) > ($3::timestamptz, $2::bigint) AND h.hour < now() - ($4::interval + interval '1 day')
ORDER BY h.hour, h.series_id
LIMIT $1
FOR NO KEY UPDATE OF s SKIP LOCKED
