SELECT id, instance_id AS instanceid, external_id AS externalid, name FROM fleet_v3.databases
WHERE organization_id = $1 AND instance_id = ANY ($2) AND (name = ANY ($3) OR external_id = ANY ($3))
ORDER BY instance_id, id
