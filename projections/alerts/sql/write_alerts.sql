INSERT INTO alerts (id, organization_id, instance_id, database_id, title, description, severity, state, muted, muted_until, rule,
                    created_at, first_triggered_at, last_triggered_at, resolved_at, occurrences, label, raised_at, other_instance_ids)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[],
                     $9::boolean[], $10::timestamptz[], $11::jsonb[], $12::timestamptz[], $13::timestamptz[], $14::timestamptz[],
                     $15::timestamptz[], $16::integer[], $17::text[], $18::timestamptz[], $19::text[])
ON CONFLICT (id) DO UPDATE SET
    instance_id = excluded.instance_id,
    database_id = excluded.database_id,
    title = excluded.title,
    description = excluded.description,
    severity = excluded.severity,
    state = excluded.state,
    muted = excluded.muted,
    muted_until = excluded.muted_until,
    rule = excluded.rule,
    created_at = excluded.created_at,
    first_triggered_at = excluded.first_triggered_at,
    last_triggered_at = excluded.last_triggered_at,
    resolved_at = excluded.resolved_at,
    occurrences = excluded.occurrences,
    other_instance_ids = excluded.other_instance_ids
