-- $2: the alerts that are closed now; no alert is in both. The others come sorted by
-- id. What is there is moved by an UPDATE, for ON CONFLICT locks each row before it
-- writes it, and both are written ahead. The lock of the alert's key keeps others away;
-- should somebody be here without it, ON CONFLICT still makes one row of two.
WITH gone AS (
    DELETE FROM alert_last_seen WHERE organization_id = $1 AND alert_id = ANY($2::uuid[])
), seen AS MATERIALIZED (
    SELECT alert_id, last_triggered_at, started_at, ends_at, key, title, description, senders::jsonb AS senders
    FROM unnest($3::uuid[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[], $9::text[], $10::text[])
        AS seen (alert_id, last_triggered_at, started_at, ends_at, key, title, description, senders)
), moved AS (
    UPDATE alert_last_seen s
    SET last_triggered_at = seen.last_triggered_at, started_at = seen.started_at, ends_at = seen.ends_at, key = seen.key,
        title = seen.title, description = seen.description, senders = seen.senders
    FROM seen WHERE s.alert_id = seen.alert_id AND s.organization_id = $1
    RETURNING s.alert_id
)
INSERT INTO alert_last_seen (alert_id, organization_id, last_triggered_at, started_at, ends_at, key, title, description, senders)
SELECT alert_id, $1, last_triggered_at, started_at, ends_at, key, title, description, senders
FROM seen WHERE NOT EXISTS (SELECT FROM moved WHERE moved.alert_id = seen.alert_id)
ON CONFLICT (alert_id) DO UPDATE
SET last_triggered_at = excluded.last_triggered_at, started_at = excluded.started_at, ends_at = excluded.ends_at, key = excluded.key,
    title = excluded.title, description = excluded.description, senders = excluded.senders
