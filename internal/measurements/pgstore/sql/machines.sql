-- The newest raw samples of hosts since a time, the newest first. Not each has the parts
-- that are looked for: an agent may send them in messages of their own.
SELECT s.subject AS host, cardinality(s.instances) AS instances, r.at, r.body
FROM measured_series s
CROSS JOIN LATERAL (SELECT at, body FROM raw_samples WHERE series_id = s.id AND at >= $2 ORDER BY at DESC LIMIT 20) r
WHERE s.id = ANY ($1)
ORDER BY s.subject, r.at DESC
