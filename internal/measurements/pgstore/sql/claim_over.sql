-- Claims weeks with details, and their series, that are over and have no raw samples
-- left.
SELECT s.id AS series_id, s.kind, s.engine, w.week AS start
FROM (
    SELECT DISTINCT series_id, date_trunc('week', start, 'UTC') AS week
    FROM rolled_details
    WHERE size = '1h' AND NOT closed AND start < date_trunc('week', now(), 'UTC')
) AS w
JOIN measured_series s ON s.id = w.series_id
WHERE (w.week, w.series_id) > ($3::timestamptz, $2::bigint)
  AND NOT EXISTS (
    SELECT FROM measured_hours h
    WHERE h.series_id = w.series_id AND h.hour >= w.week AND h.hour < w.week + interval '7 days'
)
ORDER BY w.week, w.series_id
LIMIT $1
FOR NO KEY UPDATE OF s SKIP LOCKED
