-- What was used since $3, of subjects $2 of organization $1, by the day. Of databases of a subject there
-- are the $4 with the greatest values on their newest day.
WITH newest AS (
    SELECT DISTINCT ON (subject, kind, name) subject, kind, name, (points->-1->>1)::double precision AS used
    FROM room_days
    WHERE organization_id = $1 AND subject = ANY($2) AND day >= $3
    ORDER BY subject, kind, name, day DESC
), greatest AS (
    SELECT subject, kind, name, row_number() OVER (PARTITION BY subject, kind ORDER BY used DESC, name) AS n FROM newest
)
SELECT d.subject, d.kind, d.name, d.points
FROM room_days d JOIN greatest g USING (subject, kind, name)
WHERE d.organization_id = $1 AND d.subject = ANY($2) AND d.day >= $3 AND g.n <= $4
ORDER BY d.subject, d.kind, d.name, d.day
