SELECT id, organization_id, instance_id, check_id, database_name, object, assessed, severity, evidence, measured, threshold,
       reason, fix_database, fix_statement, fix_rollback, first_seen_at, last_seen_at, gone_at,
       earlier_first_seen_at, earlier_gone_at
FROM findings
WHERE organization_id = $1 AND id = $2
