-- What is kept of every instance, one after the other, for whoever judges them all.
SELECT organization_id, instance_id, source, part, ok, since, tried_at, ok_at, every, code, sentence, to_jsonb(fell) AS fell
FROM observations
ORDER BY organization_id, instance_id, source, part
