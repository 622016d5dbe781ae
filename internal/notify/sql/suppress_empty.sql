UPDATE deliveries d SET status = 'suppressed', reason = $4, status_at = $3, closed_at = $3
WHERE d.rule_id = $1 AND d.channel_id = $2 AND d.quiet AND d.status = 'pending' AND d.closed_at IS NULL
  AND NOT EXISTS (SELECT FROM delivery_events e WHERE e.delivery_id = d.id AND e.dropped = '')
