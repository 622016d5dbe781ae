-- Each branch has an index of its own; one OR over four columns would read all.
SELECT id, organization_id, external_id, name, engine, version, host, active, created_at
FROM fleet_v1.instances
WHERE id IN (
    SELECT id FROM fleet_v1.instances WHERE organization_id = $1 AND id = ANY ($2::uuid[])
    UNION ALL
    SELECT id FROM fleet_v1.instances WHERE organization_id = $1 AND external_id = ANY ($3::text[])
    UNION ALL
    SELECT id FROM fleet_v1.instances WHERE organization_id = $1 AND name = ANY ($3)
    UNION ALL
    SELECT id FROM fleet_v1.instances WHERE organization_id = $1 AND host = ANY ($3)
)
ORDER BY id
