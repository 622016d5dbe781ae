-- The monitor, which measures the same servers, keeps what it may not read itself.
SELECT t.instance_id, classify, last_seen_at, last_assessed_at, last_classified_at,
       last_error_class, last_error, last_error_at, t.missing_grants,
       coalesce(m.missing_grants, '[]') AS missing_for_statistics
FROM assessment_targets t
LEFT JOIN monitor_leases m ON m.instance_id = t.instance_id AND m.organization_id = t.organization_id
WHERE t.organization_id = $1 AND t.instance_id = ANY($2::uuid[])
