SELECT alert_id, last_triggered_at, started_at, ends_at, title, description, senders
FROM alert_last_seen
WHERE organization_id = $1 AND alert_id = ANY($2::uuid[])
