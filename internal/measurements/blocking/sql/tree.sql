-- The newest tree that is not younger than $6, or else the first one.
SELECT at, tree
FROM blocking_samples
WHERE organization_id = $1 AND instance_id = $2 AND advisory = $3 AND at BETWEEN $4 AND $5 AND tree IS NOT NULL
ORDER BY at > $6::timestamptz, CASE WHEN at > $6::timestamptz THEN at - $6::timestamptz ELSE $6::timestamptz - at END
LIMIT 1
