SELECT i.id
FROM unnest($1::uuid[], $2::uuid[]) AS asked (organization_id, id)
JOIN fleet_v3.instances i USING (organization_id, id)
WHERE i.active
