-- In the order of the fields of valueRow.
INSERT INTO instance_change_values (organization_id, instance_id, assessment_id, nth, recorded_at, name, before_value, after_value)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::int[], $5::timestamptz[], $6::text[], $7::text[], $8::text[])
