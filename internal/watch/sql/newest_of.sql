-- The newest figure of the rule $3 of an instance $2, and the greatest since $4 with its hour.
SELECT s.value, s.details, s.at, p.peak, p.hour, p.minute
FROM signs s
LEFT JOIN LATERAL (
    SELECT m.v AS peak, h.hour, m.n - 1 AS minute
    FROM sign_hours h, unnest(h.minutes) WITH ORDINALITY AS m (v, n)
    WHERE h.organization_id = $1 AND h.rule = $3 AND h.instance_id = $2 AND h.mount = '' AND h.hour >= $4 AND m.v IS NOT NULL
    ORDER BY m.v DESC, h.hour DESC LIMIT 1
) p ON true
WHERE s.organization_id = $1 AND s.rule = $3 AND s.instance_id = $2 AND s.mount = '' AND s.value IS NOT NULL
