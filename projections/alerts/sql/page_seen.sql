SELECT s.id, s.last, a.key
FROM (
    -- No index has the order, for what moves every minute stands in none: what is open is
    -- sorted before its alerts are looked at, of which a page near the front needs few.
    SELECT s.alert_id AS id, s.last_triggered_at AS last
    FROM alert_last_seen s
    WHERE s.organization_id = {{organization}}{{window of s}}
    ORDER BY {{order of s}} OFFSET 0
) s
CROSS JOIN LATERAL (
    -- OFFSET 0 keeps it a look at each row in order: the planner takes it that few
    -- alerts are open, does not know that these are, and would sort all of them.
    SELECT {{key}} AS key FROM alerts_v5.alerts a
    WHERE a.id = s.id AND s.last > a.last_triggered_at AND a.resolved_at IS NULL AND {{scope}}{{filter}} OFFSET 0
) a
ORDER BY {{order}} LIMIT {{depth}}
