-- The labels with which a channel was told that alerts fire. Most are as they were: a row is
-- moved twice an hour, so that its age says whether it is still in use.
INSERT INTO notification_fed AS f (channel_id, alert_id, organization_id, labels, fed_at)
SELECT $1, alert_id, $2, labels::jsonb, $3
FROM unnest($4::uuid[], $5::text[]) AS told (alert_id, labels)
ON CONFLICT (channel_id, alert_id) DO UPDATE SET labels = excluded.labels, fed_at = excluded.fed_at
WHERE f.labels <> excluded.labels OR f.fed_at < excluded.fed_at - interval '30 minutes'
