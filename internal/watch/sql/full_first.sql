-- In how many days ($4: never) the first is full of what each of the instances $2 tells, and of the volumes of its hosts, by
-- figures since $3.
SELECT instance_id, min(value) AS value, 0 AS unknown
FROM (
    SELECT i.id::uuid AS instance_id, s.value
    FROM signs h
    JOIN signs s ON s.organization_id = h.organization_id AND s.rule = 'days_until_full' AND s.instance_id = h.instance_id
    CROSS JOIN jsonb_array_elements_text(h.details->'instances') AS i (id)
    WHERE h.organization_id = $1 AND h.rule = 'host' AND h.mount = '' AND i.id::uuid = ANY ($2) AND s.at >= $3 AND s.value < $4
    UNION ALL
    SELECT instance_id, value FROM signs
    WHERE organization_id = $1 AND rule = 'days_until_full' AND instance_id = ANY ($2) AND at >= $3 AND value < $4
) AS of
GROUP BY instance_id
