INSERT INTO notification_instances (instance_id, organization_id, name, engine)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[])
ON CONFLICT (instance_id) DO UPDATE SET name = excluded.name, engine = excluded.engine
