-- A name may be several instances: all of them are meant.
SELECT id FROM fleet_v3.instances WHERE organization_id = $1 AND id = ANY ($2::uuid[])
UNION
SELECT id FROM fleet_v3.instances WHERE organization_id = $1 AND name = ANY ($3::text[])
ORDER BY id
