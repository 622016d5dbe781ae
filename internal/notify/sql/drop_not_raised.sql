-- All deliveries of the rule and channel that came before have ended. Of one that failed
-- some recipients may have been mailed.
UPDATE delivery_events e SET dropped = 'not_told_raised'
WHERE e.delivery_id = $1 AND e.type = 'alert.resolved' AND e.dropped = ''
  AND NOT EXISTS (
    SELECT FROM delivery_events r JOIN deliveries d ON d.id = r.delivery_id
    WHERE r.alert_id = e.alert_id AND r.type = 'alert.raised' AND r.dropped = ''
      AND d.rule_id = $2 AND d.channel_id = $3 AND (d.status = 'sent' OR d.id = $1 OR EXISTS (SELECT FROM delivery_mails m WHERE m.delivery_id = d.id))
  )
