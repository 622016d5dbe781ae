SELECT {{columns}}, coalesce(s.last_triggered_at, a.last_triggered_at)
FROM alerts_v5.alerts a
LEFT JOIN alert_last_seen s ON {{seen later}}
{{places}}
WHERE {{touches}}
ORDER BY a.muted, array_position(ARRAY['critical', 'warning', 'info'], a.severity), a.created_at DESC, a.id
LIMIT $6
