-- Which of some alerts were told as raised, or wait to be. Of a delivery that failed some
-- recipients may have been mailed.
SELECT DISTINCT e.alert_id
FROM delivery_events e JOIN deliveries d ON d.id = e.delivery_id
WHERE d.rule_id = $1 AND d.channel_id = $2 AND e.alert_id = ANY ($3::uuid[]) AND e.type = 'alert.raised' AND e.dropped = ''
  AND (d.status IN ('pending', 'sent') OR EXISTS (SELECT FROM delivery_mails m WHERE m.delivery_id = d.id))
