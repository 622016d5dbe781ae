SELECT {{columns}}, coalesce(s.last_triggered_at, a.last_triggered_at)
FROM alerts_v5.alerts a
LEFT JOIN alert_last_seen s ON {{seen later}}
{{places}}
WHERE a.organization_id = $1 AND a.id = $2
