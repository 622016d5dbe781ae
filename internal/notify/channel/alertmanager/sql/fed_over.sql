-- The alerts of which a channel was told since $3 that they are over, or was to be.
SELECT DISTINCT ON (e.alert_id) e.alert_id, e.type, e.at, e.raised_at, e.notice->>'title' AS title, e.notice->>'severity' AS severity, coalesce(e.notice->>'label', '') AS label,
       coalesce(e.notice->'instance'->>'name', '') AS instance, coalesce(e.notice->'owner'->>'name', '') AS owner
FROM deliveries d
JOIN delivery_events e ON e.delivery_id = d.id AND e.type = 'alert.resolved' AND e.dropped = ''
WHERE d.organization_id = $1 AND d.channel_id = $2 AND d.status IN ('sent', 'failed') AND d.status_at > $3
ORDER BY e.alert_id, e.position DESC
