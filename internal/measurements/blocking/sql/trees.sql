-- The trees of samples of some times ($4) of a class of a server.
SELECT at, tree
FROM blocking_samples
WHERE organization_id = $1 AND instance_id = $2 AND advisory = $3 AND at = ANY ($4::timestamptz[]) AND tree IS NOT NULL
ORDER BY at
