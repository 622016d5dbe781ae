-- Forgets rows of activity of hours, which have minutes, after $1, of days, which have hours, after $2, and of weeks,
-- which have days, after $3, as those of the series are: not while one of them has raw samples.
DELETE FROM whole_activity
WHERE (organization_id, engine, dimension, width, start) IN (
    SELECT organization_id, engine, dimension, width, start
    FROM whole_activity w
    CROSS JOIN LATERAL (
        SELECT CASE WHEN width = '1h' THEN start ELSE date_trunc('week', start, 'UTC') END AS since,
            CASE WHEN width = '1h' THEN start + interval '1 hour' ELSE date_trunc('week', start, 'UTC') + interval '7 days' END AS until
    ) AS made
    WHERE (width = '1h' AND start < now() - $1::interval - interval '1 hour'
           OR width = '1d' AND start < now() - $2::interval - interval '1 day'
           OR width = '1w' AND start < now() - $3::interval - interval '7 days')
      AND NOT EXISTS (
          SELECT FROM measured_hours h
          JOIN measured_series s ON s.id = h.series_id
          WHERE h.hour >= made.since AND h.hour < made.until
            AND s.organization_id = w.organization_id AND s.kind = 'activity' AND s.engine = w.engine
      )
    LIMIT $4
    FOR UPDATE OF w SKIP LOCKED
)
