-- Forgets minutes after 30 days, but not while their hour has raw samples: it would be
-- made anew as a whole by the next of them. Rows that are being written are left to
-- another time; whoever deletes waits for nobody.
DELETE FROM rolled_minutes
WHERE (series_id, start) IN (
    SELECT m.series_id, m.start
    FROM rolled_minutes m
    WHERE m.start < now() - interval '30 days'
      AND NOT EXISTS (SELECT FROM measured_hours h WHERE h.series_id = m.series_id AND h.hour = m.start)
    LIMIT $1
    FOR UPDATE OF m SKIP LOCKED
)
