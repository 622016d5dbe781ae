-- Each branch has an index of its own; one OR over four columns would read all.
SELECT id, engine, external_id AS externalid, name, host
FROM fleet_v3.instances
WHERE id IN (
    SELECT id FROM fleet_v3.instances WHERE organization_id = $1 AND id = ANY ($2::uuid[])
    UNION ALL
    SELECT id FROM fleet_v3.instances WHERE organization_id = $1 AND external_id = ANY ($3::text[])
    UNION ALL
    SELECT id FROM fleet_v3.instances WHERE organization_id = $1 AND name = ANY ($3)
    UNION ALL
    SELECT id FROM fleet_v3.instances WHERE organization_id = $1 AND host_lookup(host) = ANY ($4::text[]) AND host <> ''
)
ORDER BY id
