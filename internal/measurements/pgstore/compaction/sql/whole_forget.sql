-- Forgets rows of hours, which have minutes, after $1 and of days, which have hours, after $2, as those of
-- the series are: not while one of them has raw samples.
DELETE FROM whole_rows
WHERE (organization_id, kind, engine, width, start) IN (
    SELECT organization_id, kind, engine, width, start
    FROM whole_rows w
    WHERE (width = '1h' AND start < now() - $1::interval OR width = '1d' AND start < now() - $2::interval)
      AND NOT EXISTS (
          SELECT FROM measured_hours h
          JOIN measured_series s ON s.id = h.series_id
          WHERE h.hour >= CASE WHEN w.width = '1h' THEN w.start ELSE date_trunc('week', w.start, 'UTC') END
            AND h.hour < CASE WHEN w.width = '1h' THEN w.start + interval '1 hour' ELSE date_trunc('week', w.start, 'UTC') + interval '7 days' END
            AND s.organization_id = w.organization_id AND s.kind = w.kind AND s.engine = w.engine
      )
    LIMIT $3
    FOR UPDATE OF w SKIP LOCKED
)
