-- $11: how many events of each; null: all. What is not told of a delivery that was
-- suppressed is shown all the same.
SELECT d.id, d.rule_id, r.name AS rule_name, d.channel_id, c.name AS channel_name, c.kind, d.status, d.reason, d.attempts,
       CASE WHEN d.status = 'pending' THEN coalesce((SELECT j.due_at FROM jobs j WHERE j.subject = d.id AND j.kind = 'notify' AND j.worker_id = ''), d.due_at) END AS next_attempt_at,
       d.last_code, d.last_error, d.created_at, d.status_at, told.all_events, told.events
FROM deliveries d
JOIN notification_rules r ON r.id = d.rule_id
JOIN notification_channels c ON c.id = d.channel_id
CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(e.notice ORDER BY e.at, e.position, e.event_id) FILTER (WHERE $11::int IS NULL OR e.place <= $11), '[]')::text AS events,
           count(*)::int AS all_events
    FROM (
        SELECT notice, at, position, event_id, row_number() OVER (ORDER BY at, position, event_id) AS place
        FROM delivery_events WHERE delivery_id = d.id AND (dropped = '' OR d.status = 'suppressed')
    ) e
) told
WHERE d.organization_id = $1 AND ($2::uuid IS NULL OR d.id = $2) AND (coalesce(cardinality($3::text[]), 0) = 0 OR d.status = ANY ($3))
  AND ($4::uuid IS NULL OR d.channel_id = $4)
  AND ($5::text IS NULL OR EXISTS (SELECT FROM delivery_events e WHERE e.delivery_id = d.id AND e.type = $5))
  AND ($6::timestamptz IS NULL OR d.created_at >= $6) AND ($7::timestamptz IS NULL OR d.created_at < $7)
  AND ($8::timestamptz IS NULL OR (d.created_at, d.id) < ($8, $9::uuid))
ORDER BY d.created_at DESC, d.id DESC
LIMIT $10
