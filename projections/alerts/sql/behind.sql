-- The alerts that history.sql counts in one bucket: as active those whose firing window
-- touches it, else those resolved in it.
SELECT a.id, {{instance}} AS instance_id, a.database_id, {{title}} AS title, a.severity, a.state, a.last_triggered_at
FROM alerts_v5.alerts a
WHERE {{scope}} AND a.last_triggered_at >= $2 AND a.first_triggered_at < $3 AND a.resolved_at IS NOT NULL AND NOT a.muted AND $4::boolean
UNION ALL
SELECT a.id, {{instance}} AS instance_id, a.database_id, {{title}} AS title, a.severity, a.state, greatest(a.last_triggered_at, s.last_triggered_at)
FROM alerts_v5.alerts a
LEFT JOIN alert_last_seen s ON s.organization_id = $1 AND s.alert_id = a.id
WHERE {{scope}} AND greatest(a.last_triggered_at, s.last_triggered_at) >= $2
  AND a.first_triggered_at < $3 AND a.resolved_at IS NULL AND NOT a.muted AND $4::boolean
UNION ALL
SELECT a.id, {{instance}} AS instance_id, a.database_id, {{title}} AS title, a.severity, a.state, a.last_triggered_at
FROM alerts_v5.alerts a
WHERE {{scope}} AND a.resolved_at >= $2 AND a.resolved_at < $3 AND NOT a.muted AND NOT $4::boolean
