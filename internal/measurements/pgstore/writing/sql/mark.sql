-- Marks minutes of hours ($3: bit n is minute n) to be rolled up, and opens those that
-- were compacted. $4: a sample of the hour has arrived; false: one of the hour before
-- reaches into it, which matters only where the hour has samples. What arrives while its
-- hour lasts counts as arrived at its end, so that a row is written once an hour. The
-- series are ours: nobody else makes rows of them, and INSERT … ON CONFLICT, which would
-- write a lock ahead for each, is not needed.
WITH marked AS (
    SELECT series_id, hour, minutes, arrived, greatest(now(), hour + interval '1 hour') AS arrived_at
    FROM unnest($1::bigint[], $2::timestamptz[], $3::bigint[], $4::boolean[]) AS n (series_id, hour, minutes, arrived)
), known AS (
    UPDATE measured_hours h
    SET arrived_at = CASE WHEN m.arrived THEN greatest(h.arrived_at, m.arrived_at) ELSE h.arrived_at END, compacted = false
    FROM marked m
    WHERE h.series_id = m.series_id AND h.hour = m.hour AND (h.compacted OR m.arrived AND h.arrived_at < m.arrived_at)
), measured AS (
    INSERT INTO measured_hours (series_id, hour, arrived_at)
    SELECT series_id, hour, arrived_at
    FROM marked m
    WHERE arrived AND NOT EXISTS (SELECT FROM measured_hours h WHERE h.series_id = m.series_id AND h.hour = m.hour)
)
INSERT INTO dirty_hours (series_id, hour, minutes)
SELECT series_id, hour, minutes
FROM marked m
WHERE arrived OR EXISTS (SELECT FROM measured_hours h WHERE h.series_id = m.series_id AND h.hour = m.hour)
ON CONFLICT (series_id, hour) DO UPDATE SET minutes = dirty_hours.minutes | excluded.minutes
