-- In the order of the fields of scoreRow. A day has the score of its last assessment.
INSERT INTO scores (organization_id, instance_id, day, at, score, grade, failed, domains)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::date[], $4::timestamptz[], $5::int[], $6::text[], $7::int[], $8::jsonb[])
ON CONFLICT (organization_id, instance_id, day) DO UPDATE
SET at = excluded.at, score = excluded.score, grade = excluded.grade, failed = excluded.failed, domains = excluded.domains
WHERE excluded.at >= scores.at
