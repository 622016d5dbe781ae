-- Deletes the raw samples of hours that were sealed just now. What the hour behind may
-- look back to ($3) is kept until that one is sealed too, and what was kept for this
-- hour goes with it, where the hour before is sealed.
DELETE FROM raw_samples r
USING unnest($1::bigint[], $2::timestamptz[], $3::double precision[]) AS n (series_id, hour, reach)
WHERE r.series_id = n.series_id
  AND r.at >= n.hour - make_interval(secs => n.reach)
  AND r.at < n.hour + interval '1 hour'
  AND NOT EXISTS (
      SELECT FROM measured_hours h
      WHERE h.series_id = n.series_id AND h.hour = CASE
          WHEN r.at < n.hour THEN n.hour - interval '1 hour'
          WHEN r.at >= n.hour + interval '1 hour' - make_interval(secs => n.reach) THEN n.hour + interval '1 hour'
      END
  )
