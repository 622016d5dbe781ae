INSERT INTO delivery_events (delivery_id, event_id, organization_id, type, at, position, alert_id, raised_at, notice, dropped)
SELECT delivery, event, organization, type, at, position, alert, raised_at, notice::jsonb, dropped
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[], $6::bigint[], $7::uuid[], $8::timestamptz[],
            $9::text[], $10::text[]) AS told (delivery, event, organization, type, at, position, alert, raised_at, notice, dropped)
ON CONFLICT DO NOTHING
