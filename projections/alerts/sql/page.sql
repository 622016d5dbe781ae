SELECT {{columns}}, chosen.last
FROM chosen
JOIN alerts_v5.alerts a ON a.id = chosen.id
LEFT JOIN (SELECT alert_id, last_triggered_at, title, description FROM alert_last_seen) s ON {{seen later}}
{{places}}
ORDER BY {{order}}
