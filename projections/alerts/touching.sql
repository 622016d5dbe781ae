SELECT {{columns}}, coalesce(s.last_triggered_at, a.last_triggered_at)
FROM alerts_v1.alerts a
LEFT JOIN alert_last_seen s ON {{seen later}}
LEFT JOIN alerts_v1.places i ON i.id = a.instance_id
LEFT JOIN alerts_v1.places d ON d.id = a.database_id
WHERE {{touches}}
ORDER BY a.muted, array_position(ARRAY['critical', 'warning', 'info'], a.severity), a.created_at DESC, a.id
LIMIT $6
