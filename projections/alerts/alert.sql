SELECT {{columns}}, coalesce(s.last_triggered_at, a.last_triggered_at)
FROM alerts_v1.alerts a
LEFT JOIN alert_last_seen s ON {{seen later}}
LEFT JOIN alerts_v1.places i ON i.id = a.instance_id
LEFT JOIN alerts_v1.places d ON d.id = a.database_id
WHERE a.organization_id = $1 AND a.id = $2
