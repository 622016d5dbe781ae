{{covered}}
SELECT f.id, f.organization_id, f.instance_id, f.check_id, f.database_name, f.object, f.assessed, f.severity, f.evidence,
       f.measured, f.threshold, f.reason, f.fix_database, f.fix_statement, f.fix_rollback, f.first_seen_at, f.last_seen_at, f.gone_at,
       f.earlier_first_seen_at, f.earlier_gone_at
{{matching}}
ORDER BY {{order}} LIMIT {{size}} OFFSET {{offset}}
