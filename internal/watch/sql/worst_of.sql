-- The greatest figure of the rule $4 of each of the instances $2 that has one since $3, and of how many databases it is not
-- known. The age of backups is 0 for a database that is gone.
SELECT instance_id, max(value) AS value, coalesce(max((details->>'unknown')::int), 0) AS unknown
FROM signs
WHERE organization_id = $1 AND rule = $4 AND instance_id = ANY ($2) AND at >= $3 AND (value > 0 OR value = 0 AND rule <> 'backup_rpo')
GROUP BY instance_id
