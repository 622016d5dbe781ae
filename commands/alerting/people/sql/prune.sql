DELETE FROM alert_people p USING organizations o
WHERE o.id = p.organization_id AND p.kept_at < now() - make_interval(days => o.inputs_retention_days)
