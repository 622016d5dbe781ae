UPDATE delivery_events e SET dropped = 'muted'
FROM notification_alerts a
WHERE e.delivery_id = $1 AND e.type = 'alert.raised' AND e.dropped = '' AND a.alert_id = e.alert_id AND a.muted
