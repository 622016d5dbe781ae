-- By the index on organization, instance and time, and of each row one check's part of
-- answers, with the digests by which it is held against the log. Facts, which may be a
-- megabyte, leave the database only where somebody wants them ($6, and of rows up to $7) and
-- of those from before there were answers. Without $2 of every instance.
SELECT id, instance_id, recorded_at, coalesce(answers -> $5, answers -> '') AS answer, CASE WHEN whole THEN facts END AS facts,
       CASE WHEN whole THEN '' ELSE encode(sha256(convert_to(facts::text, 'UTF8')), 'hex') END AS sha256,
       CASE WHEN whole THEN '' ELSE encode(sha256(convert_to(answers::text, 'UTF8')), 'hex') END AS answers_sha256
FROM assessments, LATERAL (SELECT answers IS NULL OR $6 OR recorded_at <= $7 AS whole) w
WHERE organization_id = $1 AND ($2::uuid[] IS NULL OR instance_id = ANY ($2::uuid[]))
  AND recorded_at > $3 AND recorded_at < $4
ORDER BY instance_id, recorded_at, id
