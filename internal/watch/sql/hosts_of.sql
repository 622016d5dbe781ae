-- The hosts that the instances $3 run on, by what agents of hosts tell (rule $2). Each host is read once, however many the
-- instances are.
SELECT DISTINCT i.id::uuid AS instance, s.details->>'host' AS host
FROM signs s
CROSS JOIN jsonb_array_elements_text(s.details->'instances') AS i (id)
WHERE s.organization_id = $1 AND s.rule = $2 AND i.id::uuid = ANY ($3)
ORDER BY host, instance
