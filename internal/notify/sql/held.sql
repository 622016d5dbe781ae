-- Of each rule and channel the alerts that are open, and neither acknowledged nor muted, whose raise was held by a
-- maintenance window ($3) and nothing else: what was told, or left out for another reason, is not told again. A delivery that
-- is open has the event already.
SELECT DISTINCT ON (d.rule_id, d.channel_id, e.alert_id) d.organization_id, d.rule_id, d.channel_id, e.notice, e.position, e.raised_at
FROM {{alerts}} a
JOIN delivery_events e ON e.alert_id = a.id AND e.organization_id = a.organization_id AND e.type = 'alert.raised' AND e.dropped = $3
JOIN deliveries d ON d.id = e.delivery_id AND d.closed_at IS NOT NULL
JOIN notification_rules r ON r.id = d.rule_id AND r.removed_at IS NULL AND (r.terms->>'enabled')::boolean
JOIN notification_channels c ON c.id = d.channel_id AND c.kind <> ALL ($1) AND c.removed_at IS NULL
WHERE a.resolved_at IS NULL AND a.state = $2 AND NOT a.muted
  AND NOT EXISTS (
    SELECT FROM delivery_events t JOIN deliveries o ON o.id = t.delivery_id
    WHERE t.organization_id = e.organization_id AND t.alert_id = e.alert_id AND t.type = 'alert.raised' AND t.dropped <> $3
      AND o.rule_id = d.rule_id AND o.channel_id = d.channel_id)
ORDER BY d.rule_id, d.channel_id, e.alert_id, d.created_at DESC
