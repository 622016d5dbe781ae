-- Forgets who has nothing left that waits for blocks: no hour that is over is still to be put
-- there, but those that wait for another reason, and none is postponed (await_blocks).
DELETE FROM series_away a
WHERE NOT EXISTS (
    SELECT FROM measured_hours h
    WHERE h.series_id = a.series_id AND NOT h.compacted AND h.hour < now() - interval '70 minutes'
      AND NOT EXISTS (SELECT FROM dirty_hours d WHERE d.series_id = h.series_id AND d.hour = h.hour AND d.failures > 0)
) AND NOT EXISTS (
    SELECT FROM dirty_hours d
    WHERE d.series_id = a.series_id AND d.failures = 0 AND d.due >= d.since + interval '30 seconds'
)
