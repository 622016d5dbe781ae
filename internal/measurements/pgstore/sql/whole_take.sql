-- Takes the marks of the newest hours, $4 at most, away.
WITH newest AS (
    SELECT DISTINCT hour FROM whole_marks
    WHERE organization_id = $1 AND kind = $2 AND engine = $3
    ORDER BY hour DESC
    LIMIT $4
)
DELETE FROM whole_marks m
USING newest n
WHERE m.organization_id = $1 AND m.kind = $2 AND m.engine = $3 AND m.hour = n.hour
RETURNING m.hour, m.minutes
