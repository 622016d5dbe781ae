-- Takes in those that were large ($1) before there were rows of them, or whose rows a
-- crash has taken: no mark tells of them.
INSERT INTO wholes (organization_id, kind, engine)
SELECT organization_id, kind, engine
FROM measured_series
WHERE kind NOT IN ('activity', 'busy', 'server')
GROUP BY organization_id, kind, engine
HAVING count(*) >= $1
ORDER BY organization_id, kind, engine
ON CONFLICT DO NOTHING
