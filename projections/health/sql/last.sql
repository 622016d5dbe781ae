-- The last row of each instance: one look into the primary key for each. The day bounds
-- it from above, the time of the assessment decides.
SELECT s.instance_id, s.day, s.at, s.score, s.grade, s.failed
FROM unnest($2::uuid[]) AS i (id)
CROSS JOIN LATERAL (
    SELECT * FROM health_v1.scores s
    WHERE s.organization_id = $1 AND s.instance_id = i.id AND s.day <= ($3::timestamptz AT TIME ZONE 'UTC')::date AND s.at <= $3
    ORDER BY s.day DESC
    LIMIT 1
) s
