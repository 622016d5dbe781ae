-- Claims days of hours after 400 days, with their series: not while their week has raw
-- samples, or details, beside which the day's rest would count twice.
SELECT s.id AS series_id, s.kind, s.engine, r.start
FROM rolled_hours r
JOIN measured_series s ON s.id = r.series_id
WHERE (r.start, r.series_id) > ($3::timestamptz, $2::bigint)
  AND r.start < now() - interval '400 days'
  AND NOT EXISTS (
      SELECT FROM measured_hours h
      WHERE h.series_id = r.series_id AND h.hour >= date_trunc('week', r.start, 'UTC')
        AND h.hour < date_trunc('week', r.start, 'UTC') + interval '7 days'
  )
  AND NOT EXISTS (
      SELECT FROM rolled_details d
      WHERE d.series_id = r.series_id AND d.size = '1d' AND NOT d.closed AND d.start >= date_trunc('week', r.start, 'UTC')
        AND d.start < date_trunc('week', r.start, 'UTC') + interval '7 days'
  )
ORDER BY r.start, r.series_id
LIMIT $1
FOR NO KEY UPDATE OF s SKIP LOCKED
