INSERT INTO totals_of_instances (organization_id, instance_id, month, severity, closed, muted, alerts)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::boolean[], $6::boolean[], $7::bigint[])
ON CONFLICT (organization_id, instance_id, month, severity, closed, muted) DO UPDATE SET alerts = totals_of_instances.alerts + excluded.alerts
