-- Marks every hour that is not compacted to be rolled up as a whole, where the head is
-- empty after a crash; whoever notes that the head is there again does it.
WITH again AS (
    INSERT INTO head_state (ready) VALUES (false)
    ON CONFLICT (one) DO NOTHING
    RETURNING one
)
INSERT INTO dirty_hours (series_id, hour, minutes, recovered)
SELECT h.series_id, h.hour, (1::bigint << 60) - 1, true
FROM again, measured_hours h
WHERE NOT h.compacted
ON CONFLICT (series_id, hour) DO UPDATE SET minutes = excluded.minutes, recovered = true
