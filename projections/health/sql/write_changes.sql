-- In the order of the fields of changeRow.
INSERT INTO changes (assessment_id, nth, organization_id, instance_id, at, kind, key, before_digest, after_digest)
SELECT * FROM unnest($1::uuid[], $2::int[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::text[], $7::text[], $8::text[], $9::text[])
ON CONFLICT DO NOTHING
