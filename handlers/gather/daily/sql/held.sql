-- The alerts whose raise was not told because they were muted, of deliveries made from $2 until $3.
SELECT DISTINCT e.alert_id
FROM deliveries d
JOIN delivery_events e ON e.delivery_id = d.id
WHERE d.organization_id = $1 AND d.created_at >= $2 AND d.created_at < $3 AND e.alert_id IS NOT NULL AND e.dropped = 'muted'
