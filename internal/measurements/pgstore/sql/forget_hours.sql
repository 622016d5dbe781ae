-- Forgets days of hours, now that their series are ours and no sample can come.
DELETE FROM rolled_hours r
USING unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, start)
WHERE r.series_id = n.series_id AND r.start = n.start
  AND NOT EXISTS (
      SELECT FROM measured_hours h
      WHERE h.series_id = r.series_id AND h.hour >= date_trunc('week', r.start, 'UTC')
        AND h.hour < date_trunc('week', r.start, 'UTC') + interval '7 days'
  )
