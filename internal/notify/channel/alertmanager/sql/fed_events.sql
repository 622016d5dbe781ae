SELECT DISTINCT ON (alert_id) alert_id, type, at, raised_at, notice->>'title' AS title, notice->>'severity' AS severity, coalesce(notice->>'label', '') AS label,
       coalesce(notice->'instance'->>'name', '') AS instance, coalesce(notice->'owner'->>'name', '') AS owner
FROM delivery_events
WHERE delivery_id = $1 AND dropped = '' AND alert_id IS NOT NULL
ORDER BY alert_id, position DESC
