INSERT INTO notification_alerts (alert_id, organization_id, title, severity, instance_id, raised_at, acknowledged, muted, label, others, rule, began_at)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::timestamptz[], $7::boolean[], $8::boolean[], $9::text[], $10::text[], $11::text[],
                     $12::timestamptz[])
ON CONFLICT (alert_id) DO UPDATE SET title = excluded.title, severity = excluded.severity, instance_id = excluded.instance_id,
    acknowledged = excluded.acknowledged, muted = excluded.muted, label = excluded.label, others = excluded.others, rule = excluded.rule,
    began_at = excluded.began_at
