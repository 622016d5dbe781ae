SELECT id, instance_id, database_id, title, severity, state, count(*) OVER () AS all_of_them
FROM (
{{behind}}
) b
ORDER BY array_position(ARRAY['critical', 'warning', 'info'], severity), last_triggered_at DESC, id
LIMIT $5
