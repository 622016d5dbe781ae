-- Marks what was rolled up ($3: the minutes) for the rows of the whole organization, while
-- dirty_hours still has since when it waits. Activity has such rows from the second step of
-- the upgrade to them on.
INSERT INTO whole_marks (organization_id, kind, engine, hour, minutes, since)
SELECT s.organization_id, s.kind, s.engine, n.hour, bit_or(n.minutes), min(d.since)
FROM unnest($1::bigint[], $2::timestamptz[], $3::bigint[]) AS n (series_id, hour, minutes)
JOIN dirty_hours d ON d.series_id = n.series_id AND d.hour = n.hour
JOIN measured_series s ON s.id = n.series_id
WHERE s.kind NOT IN ('busy', 'server') AND (s.kind <> 'activity' OR (
    SELECT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'wholes'::regclass AND conname = 'wholes_kinds')
))
GROUP BY s.organization_id, s.kind, s.engine, n.hour
