-- $2: the alerts that are not muted until a time any more. No alert is in both, and
-- whoever writes about one holds the lock of its key.
WITH gone AS (
    DELETE FROM alert_mutes WHERE organization_id = $1 AND alert_id = ANY($2::uuid[])
)
INSERT INTO alert_mutes (alert_id, organization_id, until)
SELECT alert_id, $1, until FROM unnest($3::uuid[], $4::timestamptz[]) AS muted (alert_id, until)
ON CONFLICT (alert_id) DO UPDATE SET until = excluded.until
