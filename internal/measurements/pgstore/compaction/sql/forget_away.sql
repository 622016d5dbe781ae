-- Forgets which series no longer wait for blocks: they have no hour left that is over ($1) and not
-- put there, nor one that is postponed until its blocks can be reached (await_blocks, by $2). Hours
-- that cannot be rolled up for another reason do not count. Others may forget the same series
-- now: those are theirs.
DELETE FROM series_away WHERE series_id IN (
    SELECT a.series_id
    FROM series_away a
    WHERE NOT EXISTS (
        SELECT FROM measured_hours h
        WHERE h.series_id = a.series_id AND NOT h.compacted AND h.hour < now() - $1::interval
          AND NOT EXISTS (SELECT FROM dirty_hours d WHERE d.series_id = h.series_id AND d.hour = h.hour AND d.failures > 0)
    ) AND NOT EXISTS (
        SELECT FROM dirty_hours d
        WHERE d.series_id = a.series_id AND d.failures = 0 AND d.due >= d.since + $2::interval
    )
    FOR UPDATE SKIP LOCKED
)
