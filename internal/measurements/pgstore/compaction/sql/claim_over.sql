-- Claims weeks with details, and their series, that are over and have no raw samples
-- left.
SELECT s.id AS series_id, s.organization_id, s.kind, s.subject, s.engine, w.week AS start
FROM open_weeks w
JOIN measured_series s ON s.id = w.series_id
WHERE (w.week, w.series_id) > ($3::timestamptz, $2::bigint)
  AND w.week < date_trunc('week', now(), 'UTC')
  AND NOT EXISTS (
    SELECT FROM measured_hours h
    WHERE h.series_id = w.series_id AND h.hour >= w.week AND h.hour < w.week + interval '7 days'
)
ORDER BY w.week, w.series_id
LIMIT $1
FOR NO KEY UPDATE OF s SKIP LOCKED
