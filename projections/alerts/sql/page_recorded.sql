SELECT a.id, a.last_triggered_at AS last, {{key}} AS key
FROM alerts_v5.alerts a
WHERE {{scope}}{{window of a}}{{filter}}
  AND NOT EXISTS (SELECT FROM alert_last_seen s WHERE {{seen later}})
ORDER BY {{order}} LIMIT {{depth}}
