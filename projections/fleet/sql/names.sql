SELECT id, name, engine, false AS removed FROM fleet_v3.instances WHERE organization_id = $1 AND id = ANY ($2)
UNION ALL
SELECT id, name, '', false FROM fleet_v3.databases WHERE organization_id = $1 AND id = ANY ($2)
UNION ALL
SELECT id, name, engine, true FROM fleet_v3.gone WHERE organization_id = $1 AND id = ANY ($2)
