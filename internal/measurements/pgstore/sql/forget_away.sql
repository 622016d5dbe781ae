-- Forgets who has nothing left that could be put into blocks: its hours were deleted, or
-- wait for another reason.
DELETE FROM series_away a
WHERE NOT EXISTS (
    SELECT FROM measured_hours h
    WHERE h.series_id = a.series_id AND NOT h.compacted
      AND NOT EXISTS (SELECT FROM dirty_hours d WHERE d.series_id = h.series_id AND d.hour = h.hour AND d.failures > 0)
)
