WITH old AS (
    SELECT id FROM deliveries d
    WHERE created_at < $1 AND status <> 'pending'
      AND NOT EXISTS (SELECT FROM delivery_events e JOIN {{alerts}} a ON a.id = e.alert_id AND a.organization_id = e.organization_id AND a.resolved_at IS NULL WHERE e.delivery_id = d.id)
    ORDER BY created_at LIMIT $2
    FOR UPDATE SKIP LOCKED
), events AS (
    DELETE FROM delivery_events WHERE delivery_id IN (SELECT id FROM old)
), mails AS (
    DELETE FROM delivery_mails WHERE delivery_id IN (SELECT id FROM old)
), gone AS (
    DELETE FROM deliveries WHERE id IN (SELECT id FROM old) RETURNING id
)
SELECT count(*)::int FROM gone
