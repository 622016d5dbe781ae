SELECT a.id, a.title, a.severity, a.instance_id, a.raised_at, a.label, a.other_instance_ids, s.title AS now
FROM {{alerts}} a
LEFT JOIN alert_last_seen s ON s.organization_id = $1 AND s.alert_id = a.id
WHERE a.organization_id = $1 AND a.resolved_at IS NULL AND NOT a.muted
