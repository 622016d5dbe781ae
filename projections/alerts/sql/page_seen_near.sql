SELECT s.id, s.last, NULL AS key, s.n >= {{near}} AS cut
FROM (
    SELECT s.alert_id AS id, s.last_triggered_at AS last, row_number() OVER (ORDER BY {{order of s}}) AS n
    FROM alert_last_seen s
    WHERE s.organization_id = {{organization}}{{window of s}}
    ORDER BY {{order of s}} LIMIT {{near}}
) s
WHERE s.n >= {{near}} OR EXISTS (
    SELECT FROM alerts_v5.alerts a
    WHERE a.id = s.id AND s.last > a.last_triggered_at AND a.resolved_at IS NULL
      AND a.organization_id = {{organization}} AND {{within}}{{filter}} OFFSET 0)
ORDER BY {{order}}
