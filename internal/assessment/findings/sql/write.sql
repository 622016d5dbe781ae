-- In the order of the fields of Finding. What came back takes the place of what had
-- gone, with times of its own.
INSERT INTO findings (id, organization_id, instance_id, check_id, database_name, object, assessed, severity, evidence, measured,
                      threshold, reason, fix_database, fix_statement, fix_rollback, first_seen_at, last_seen_at, gone_at,
                      earlier_first_seen_at, earlier_gone_at)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::int[], $9::text[],
                     $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::timestamptz[],
                     $17::timestamptz[], $18::timestamptz[], $19::timestamptz[], $20::timestamptz[])
ON CONFLICT (id) DO UPDATE
SET severity = excluded.severity, evidence = excluded.evidence, measured = excluded.measured, threshold = excluded.threshold,
    reason = excluded.reason, fix_database = excluded.fix_database, fix_statement = excluded.fix_statement,
    fix_rollback = excluded.fix_rollback, first_seen_at = excluded.first_seen_at, last_seen_at = excluded.last_seen_at,
    gone_at = excluded.gone_at, earlier_first_seen_at = excluded.earlier_first_seen_at,
    earlier_gone_at = excluded.earlier_gone_at
