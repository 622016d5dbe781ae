SELECT s.alert_id AS id, s.last_triggered_at AS last, a.key
FROM alert_last_seen s
CROSS JOIN LATERAL (
    -- OFFSET 0 keeps it a look at each row in order: the planner takes it that few
    -- alerts are open, does not know that these are, and would sort all of them.
    SELECT {{key}} AS key FROM alerts_v2.alerts a WHERE {{seen later}} AND {{scope}}{{filter}} OFFSET 0
) a
WHERE s.organization_id = {{organization}}{{window of s}}
ORDER BY {{order}} LIMIT {{depth}}
