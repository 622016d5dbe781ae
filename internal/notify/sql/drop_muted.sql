-- An alert that is over is told whether or not it was muted.
UPDATE delivery_events e SET dropped = 'muted'
FROM {{alerts}} a
WHERE e.delivery_id = $1 AND e.type = 'alert.raised' AND e.dropped = '' AND a.id = e.alert_id AND a.organization_id = e.organization_id
  AND a.muted AND a.resolved_at IS NULL
