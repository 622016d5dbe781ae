-- $2: the alerts that are closed now. The others come sorted by id, so that two
-- batches would wait for each other; no alert is in both.
WITH gone AS (
    DELETE FROM alert_last_seen WHERE organization_id = $1 AND alert_id = ANY($2::uuid[])
)
INSERT INTO alert_last_seen (alert_id, organization_id, last_triggered_at, started_at, ends_at, key)
SELECT alert_id, $1, last_triggered_at, started_at, ends_at, key
FROM unnest($3::uuid[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[], $7::text[])
    AS seen (alert_id, last_triggered_at, started_at, ends_at, key)
ON CONFLICT (alert_id) DO UPDATE
SET last_triggered_at = excluded.last_triggered_at, started_at = excluded.started_at, ends_at = excluded.ends_at, key = excluded.key
