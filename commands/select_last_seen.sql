SELECT alert_id, last_triggered_at, started_at, ends_at
FROM alert_last_seen
WHERE alert_id = ANY($1::uuid[])
