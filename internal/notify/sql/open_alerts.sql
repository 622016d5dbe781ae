SELECT a.id, a.title, a.severity, a.instance_id, a.raised_at, a.label, a.other_instance_ids, s.title AS now,
       w.alert_id IS NOT NULL AS in_window -- it was raised in a maintenance window
FROM {{alerts}} a
LEFT JOIN alert_last_seen s ON s.organization_id = $1 AND s.alert_id = a.id
LEFT JOIN alert_windows w ON w.organization_id = $1 AND w.alert_id = a.id
WHERE a.organization_id = $1 AND a.resolved_at IS NULL AND NOT a.muted
