-- By the index on organization, instance and time, and of each row one check's part of
-- answers: facts, which may be a megabyte, are read only where somebody wants them ($6)
-- and of those from before there were answers. Without $2 of every instance.
SELECT id, instance_id, recorded_at, coalesce(answers -> $5, answers -> '') AS answer, CASE WHEN answers IS NULL OR $6 THEN facts END AS facts
FROM assessments
WHERE organization_id = $1 AND ($2::uuid[] IS NULL OR instance_id = ANY ($2::uuid[]))
  AND recorded_at > $3 AND recorded_at < $4
ORDER BY instance_id, recorded_at, id
