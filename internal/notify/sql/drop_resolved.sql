-- Of the alerts $4, what waits for the end of the quiet hours is not told any more. The
-- alerts whose raise was among it.
WITH dropped AS (
    UPDATE delivery_events e SET dropped = 'resolved_meanwhile'
    FROM deliveries d
    WHERE d.id = e.delivery_id AND d.rule_id = $1 AND d.channel_id = $2 AND d.quiet AND d.status = 'pending' AND d.closed_at IS NULL
      AND d.due_at > $3 AND e.alert_id = ANY ($4::uuid[]) AND e.dropped = ''
    RETURNING e.alert_id, e.type
)
SELECT DISTINCT alert_id FROM dropped WHERE type = 'alert.raised'
