INSERT INTO places (id, organization_id, name)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[])
ON CONFLICT (id) DO UPDATE SET name = excluded.name
WHERE places.name <> excluded.name
