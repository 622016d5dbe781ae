-- The newest that reached the server, at most $3 seconds old; without $3 any
-- age, and where none ever reached it, the newest attempt.
SELECT id, instance_id, recorded_at, facts
FROM assessments
WHERE organization_id = $1
  AND instance_id = $2
  AND ($3::float8 IS NULL
       OR outcome <> 'unreachable' AND recorded_at >= now() - make_interval(secs => $3::float8))
ORDER BY outcome = 'unreachable', recorded_at DESC
LIMIT 1
