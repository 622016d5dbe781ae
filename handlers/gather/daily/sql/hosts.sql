-- The hosts that servers ($2) run on, by what agents of hosts tell (internal/watch).
SELECT i.id AS instance, s.details->>'host' AS host
FROM unnest($2::uuid[]) AS i (id)
JOIN signs s ON s.organization_id = $1 AND s.rule = 'host' AND s.details->'instances' ? i.id::text
ORDER BY host, instance
