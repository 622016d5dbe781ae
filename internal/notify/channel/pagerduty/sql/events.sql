-- What a delivery says of alerts, of each in the order in which it happened.
SELECT alert_id, type, notice FROM delivery_events
WHERE delivery_id = $1 AND dropped = '' AND alert_id IS NOT NULL
ORDER BY alert_id, position
