INSERT INTO databases (id, organization_id, instance_id, external_id, name, created_at)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::timestamptz[])
ON CONFLICT (id) DO UPDATE SET name = excluded.name, created_at = excluded.created_at
