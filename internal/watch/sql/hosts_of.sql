-- The hosts that the instances $3 run on, by what agents of hosts tell (rule $2).
SELECT i.id AS instance, s.details->>'host' AS host
FROM unnest($3::uuid[]) AS i (id)
JOIN signs s ON s.organization_id = $1 AND s.rule = $2 AND s.details->'instances' ? i.id::text
ORDER BY host, instance
