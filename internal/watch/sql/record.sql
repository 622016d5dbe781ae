-- A sample that comes twice, or late, changes nothing; so neither does it wear out
-- the table. In the order of the key, in which everybody locks.
INSERT INTO signs (organization_id, rule, instance_id, mount, value, at)
SELECT * FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::double precision[], $6::timestamptz[])
ON CONFLICT (organization_id, rule, instance_id, mount) DO UPDATE SET value = excluded.value, at = excluded.at
WHERE signs.at < excluded.at
