-- A sample that comes twice, or late, changes nothing; so neither does it wear out
-- the table. In the order of the key, in which everybody locks.
-- A row of the rule host keeps in since when the host told its volumes before.
INSERT INTO signs (organization_id, rule, instance_id, mount, value, at, details)
SELECT organization_id, rule, instance_id, mount, value, at, details::jsonb
FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::double precision[], $6::timestamptz[], $7::text[])
    AS told (organization_id, rule, instance_id, mount, value, at, details)
ON CONFLICT (organization_id, rule, instance_id, mount) DO UPDATE
SET value = excluded.value, at = excluded.at, details = excluded.details, since = CASE WHEN signs.rule = 'host' THEN signs.at ELSE signs.since END
WHERE signs.at < excluded.at
