SELECT id, organization_id, instance_id, database_id, title, description, severity, state, muted, muted_until, rule,
       created_at, first_triggered_at, last_triggered_at, resolved_at, occurrences,
       label, raised_at, other_instance_ids
FROM alerts WHERE id = ANY ($1)
