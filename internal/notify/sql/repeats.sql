-- Of each rule and channel the alerts that are open, and neither acknowledged nor muted, as
-- they were last told, or tried to be, where that was as long ago as the rule says and
-- nothing of them waits. A repeat that reached nobody was an attempt, too.
SELECT organization_id, rule_id, channel_id, notice, position, raised_at
FROM (
    SELECT DISTINCT ON (d.rule_id, d.channel_id, e.alert_id) d.organization_id, d.rule_id, d.channel_id, e.alert_id, e.notice, e.position, e.raised_at,
           d.status, d.status_at, (r.terms->>'repeatMinutes')::int AS minutes
    FROM notification_rules r
    JOIN deliveries d ON d.organization_id = r.organization_id AND d.rule_id = r.id
    JOIN delivery_events e ON e.delivery_id = d.id AND e.type = 'alert.raised' AND e.dropped = ''
    JOIN {{alerts}} a ON a.id = e.alert_id AND a.organization_id = e.organization_id AND a.state = $3 AND NOT a.muted
    JOIN notification_channels c ON c.id = d.channel_id AND c.kind <> ALL ($2) AND c.removed_at IS NULL
    WHERE r.removed_at IS NULL AND (r.terms->>'enabled')::boolean AND (r.terms->>'repeatMinutes')::int > 0 AND d.status <> 'suppressed'
    ORDER BY d.rule_id, d.channel_id, e.alert_id, d.created_at DESC
) AS last
WHERE status IN ('sent', 'failed') AND status_at + make_interval(mins => minutes) <= $1
  AND NOT EXISTS (
    SELECT FROM deliveries d
    JOIN delivery_events e ON e.delivery_id = d.id AND e.organization_id = d.organization_id AND e.alert_id = last.alert_id AND e.type = 'alert.raised'
    WHERE d.organization_id = last.organization_id AND d.rule_id = last.rule_id AND d.channel_id = last.channel_id
      AND (e.dropped = ANY ($4) OR d.status = 'suppressed' AND d.reason = ANY ($4)) AND d.status_at + make_interval(mins => last.minutes) > $1)
ORDER BY rule_id, channel_id, position
