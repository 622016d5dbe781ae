-- By the index on instance and time.
SELECT facts FROM assessments
WHERE organization_id = $1 AND instance_id = $2 AND recorded_at < $3 AND outcome <> 'unreachable'
ORDER BY recorded_at DESC LIMIT 1
