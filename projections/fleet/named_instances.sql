-- Each branch has an index of its own; one OR over four columns would read all.
SELECT reference, id
FROM (
    SELECT id::text AS reference, id, 1 AS rank FROM fleet_v1.instances WHERE organization_id = $1 AND id = ANY ($2::uuid[])
    UNION ALL
    SELECT external_id, id, 2 FROM fleet_v1.instances WHERE organization_id = $1 AND external_id = ANY ($3::text[])
    UNION ALL
    SELECT name, id, 3 FROM fleet_v1.instances WHERE organization_id = $1 AND name = ANY ($3)
    UNION ALL
    SELECT host, id, 4 FROM fleet_v1.instances WHERE organization_id = $1 AND host = ANY ($3)
) matches
GROUP BY reference, id
ORDER BY reference, min(rank), id
