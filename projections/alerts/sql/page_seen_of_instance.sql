SELECT a.id, s.last_triggered_at AS last, {{key}} AS key
FROM alerts_v5.alerts a
JOIN alert_last_seen s ON {{seen later}}
WHERE {{scope}}{{window of s}}{{filter}}
ORDER BY {{order}} LIMIT {{depth}}
