-- In how many days ($4: never) the first volume of the hosts of each of the instances $2 is full, by figures since $3.
SELECT i.id::uuid AS instance_id, min(s.value) AS value, 0 AS unknown
FROM signs h
JOIN signs s ON s.organization_id = h.organization_id AND s.rule = 'days_until_full' AND s.instance_id = h.instance_id
CROSS JOIN jsonb_array_elements_text(h.details->'instances') AS i (id)
WHERE h.organization_id = $1 AND h.rule = 'host' AND h.mount = '' AND i.id::uuid = ANY ($2) AND s.at >= $3 AND s.value < $4
GROUP BY i.id
