-- The newest assessment that reached the server, and the oldest of those that are at
-- most $3 and, beside the newest, at least $4 seconds old: two looks into one index.
WITH newest AS (
    SELECT recorded_at, facts
    FROM assessments
    WHERE organization_id = $1 AND instance_id = $2 AND outcome <> 'unreachable'
    ORDER BY recorded_at DESC
    LIMIT 1
), oldest AS (
    SELECT a.recorded_at, a.facts
    FROM assessments a, newest n
    WHERE a.organization_id = $1 AND a.instance_id = $2 AND a.outcome <> 'unreachable'
      AND a.recorded_at >= now() - make_interval(secs => $3::float8)
      AND a.recorded_at <= n.recorded_at - make_interval(secs => $4::float8)
    ORDER BY a.recorded_at
    LIMIT 1
)
SELECT recorded_at, facts FROM newest
UNION ALL
SELECT recorded_at, facts FROM oldest
ORDER BY recorded_at DESC
