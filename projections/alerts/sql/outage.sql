-- The instance's own alert ($2) before that of the whole organization, the latest first.
SELECT {{columns}}, coalesce(s.last_triggered_at, a.last_triggered_at)
FROM alerts_v5.alerts a
LEFT JOIN alert_last_seen s ON {{seen later}}
{{places}}
WHERE a.organization_id = $1 AND a.resolved_at IS NULL
  AND (a.instance_id = $2 AND a.rule ->> 'id' = ANY ($3::text[]) OR a.instance_id IS NULL AND a.rule ->> 'id' = ($3::text[])[1])
ORDER BY a.instance_id IS NULL, a.first_triggered_at DESC, a.id
LIMIT 1
