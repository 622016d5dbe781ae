-- The monitor, which measures the same servers, keeps what it may not read itself.
SELECT i.id AS instance_id, t.instance_id IS NOT NULL AS collected, f.instance_id IS NOT NULL AS fed,
       coalesce(t.classify, '') AS classify, t.last_seen_at,
       greatest(t.last_assessed_at, f.last_assessed_at) AS last_assessed_at,
       greatest(t.last_classified_at, f.last_classified_at) AS last_classified_at,
       coalesce(t.last_error_class, '') AS last_error_class, coalesce(t.last_error, '') AS last_error, t.last_error_at, t.failing_since,
       coalesce(t.missing_grants, '[]') AS missing_grants, coalesce(t.standby, false) AS standby, coalesce(t.upstream, '') AS upstream,
       coalesce(m.missing_grants, '[]') AS missing_for_statistics
FROM unnest($2::uuid[]) AS i (id)
LEFT JOIN assessment_targets t ON t.organization_id = $1 AND t.instance_id = i.id
LEFT JOIN assessment_feeds f ON f.organization_id = $1 AND f.instance_id = i.id AND f.last_assessed_at IS NOT NULL
LEFT JOIN monitor_leases m ON m.instance_id = t.instance_id AND m.organization_id = t.organization_id
WHERE t.instance_id IS NOT NULL OR f.instance_id IS NOT NULL
