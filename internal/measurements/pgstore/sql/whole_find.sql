-- Takes in those that were large ($1) before there were rows of them, or whose rows a
-- crash has taken: no mark tells of them. Activity has rows from the second step of the
-- upgrade to them on.
INSERT INTO wholes (organization_id, kind, engine)
SELECT organization_id, kind, engine
FROM measured_series
WHERE kind NOT IN ('busy', 'server') AND (kind <> 'activity' OR (SELECT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'wholes'::regclass AND conname = 'wholes_kinds')))
GROUP BY organization_id, kind, engine
HAVING count(*) >= $1
ORDER BY organization_id, kind, engine
ON CONFLICT DO NOTHING
