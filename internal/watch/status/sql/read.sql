-- What is kept of instances ($2) of an organization ($1).
SELECT organization_id, instance_id, source, part, ok, since, tried_at, ok_at, every, code, sentence, to_jsonb(fell) AS fell
FROM observations
WHERE organization_id = $1 AND instance_id = ANY ($2::uuid[])
ORDER BY instance_id, source, part
