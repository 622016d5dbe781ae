-- Marks minutes of hours ($3: bit n is minute n) to be rolled up. $4: a sample of the
-- hour has arrived; false: one of the hour before reaches into it, which matters only
-- where the hour has samples.
WITH marked AS (
    SELECT series_id, hour, minutes, arrived
    FROM unnest($1::bigint[], $2::timestamptz[], $3::bigint[], $4::boolean[]) AS n (series_id, hour, minutes, arrived)
), measured AS (
    INSERT INTO measured_hours (series_id, hour, arrived_at)
    SELECT series_id, hour, now() FROM marked WHERE arrived
    ON CONFLICT (series_id, hour) DO UPDATE SET arrived_at = excluded.arrived_at
)
INSERT INTO dirty_hours (series_id, hour, minutes)
SELECT series_id, hour, minutes
FROM marked m
WHERE arrived OR EXISTS (SELECT FROM measured_hours h WHERE h.series_id = m.series_id AND h.hour = m.hour)
ON CONFLICT (series_id, hour) DO UPDATE SET minutes = dirty_hours.minutes | excluded.minutes
