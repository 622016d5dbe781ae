SELECT a.id, a.last_triggered_at AS last, NULL AS key, a.n >= {{near}} AS cut
FROM (
    SELECT a.*, row_number() OVER (ORDER BY {{order of a}}) AS n
    FROM alerts_v5.alerts a
    WHERE a.organization_id = {{organization}}{{window of a}}{{filter}}
    ORDER BY {{order of a}} LIMIT {{near}}
) a
WHERE a.n >= {{near}} OR {{within}} AND NOT EXISTS (SELECT FROM alert_last_seen s WHERE {{seen later}})
ORDER BY {{order}}
