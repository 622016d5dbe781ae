INSERT INTO totals (organization_id, hour, severity, closed, muted, alerts)
SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::boolean[], $5::boolean[], $6::bigint[])
ON CONFLICT (organization_id, hour, severity, closed, muted) DO UPDATE SET alerts = totals.alerts + excluded.alerts
