-- The deliveries that were made from $2 until $3, of alerts $4; null: of everything.
SELECT d.status, d.status_at, d.created_at, c.name AS channel, d.last_code, d.last_error
FROM deliveries d
JOIN notification_channels c ON c.id = d.channel_id
WHERE d.organization_id = $1 AND d.created_at >= $2 AND d.created_at < $3
  AND ($4::uuid[] IS NULL OR EXISTS (SELECT FROM delivery_events e WHERE e.delivery_id = d.id AND e.alert_id = ANY ($4)))
ORDER BY d.created_at, d.id
