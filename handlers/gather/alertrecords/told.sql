-- What became of the notifications that alerts $2 of organization $1 were raised, as of $3: a delivery whose state
-- changed later was pending then.
SELECT e.alert_id, d.channel_id,
       CASE WHEN d.status_at >= $3 THEN 'pending' WHEN e.dropped <> '' THEN 'suppressed' ELSE d.status END AS status,
       coalesce(nullif(e.dropped, ''), d.reason) AS reason, d.status_at,
       count(*) FILTER (WHERE e.dropped = '') OVER (PARTITION BY d.id) > 1 AS grouped
FROM delivery_events e
JOIN deliveries d ON d.id = e.delivery_id
WHERE e.organization_id = $1 AND e.type = 'alert.raised' AND e.alert_id = ANY ($2) AND e.at < $3
ORDER BY e.alert_id, d.status_at, d.id
