-- The raw samples of an instance's statements ($2) in a stretch of time.
SELECT r.at, r.body
FROM measured_series m
JOIN raw_samples r ON r.series_id = m.id AND r.at >= $3 AND r.at < $4
WHERE m.organization_id = $1 AND m.kind = 'statements' AND m.subject = $2
