-- Takes in those whose series have become so many ($1) that it is worth it, and takes the
-- marks of the others away: their reads take the series' rows.
--
-- Two processes, or the two loops of one, may do so at once, and nothing orders their marks. So marks that
-- another one is taking are left to it: waiting for them ended in deadlocks.
WITH unknown AS (
    SELECT m.organization_id, m.kind, m.engine, (
        SELECT count(*) FROM (
            SELECT FROM measured_series s
            WHERE s.organization_id = m.organization_id AND s.kind = m.kind AND s.engine = m.engine
            LIMIT $1
        ) AS counted
    ) >= $1 AS large
    FROM (SELECT DISTINCT organization_id, kind, engine FROM whole_marks) AS m
    WHERE NOT EXISTS (
        SELECT FROM wholes w
        WHERE w.organization_id = m.organization_id AND w.kind = m.kind AND w.engine = m.engine
    )
), registered AS (
    INSERT INTO wholes (organization_id, kind, engine)
    SELECT organization_id, kind, engine FROM unknown WHERE large
    ORDER BY organization_id, kind, engine
    ON CONFLICT DO NOTHING
)
DELETE FROM whole_marks
WHERE ctid = ANY (ARRAY(
    SELECT m.ctid FROM whole_marks m
    JOIN unknown u ON m.organization_id = u.organization_id AND m.kind = u.kind AND m.engine = u.engine
    WHERE NOT u.large
    FOR UPDATE OF m SKIP LOCKED
))
