-- What is open of each instance, also of those that an alert concerns beside its own; without instances ($2) of all.
SELECT instance, sum(open)::bigint AS open, sum(critical)::bigint AS critical
FROM (
    SELECT a.instance_id AS instance, count(*) AS open, count(*) FILTER (WHERE a.severity = 'critical') AS critical
    FROM alerts_v5.alerts a
    WHERE a.organization_id = $1 AND a.instance_id IS NOT NULL AND a.resolved_at IS NULL AND NOT a.muted
      AND (coalesce(cardinality($2::uuid[]), 0) = 0 OR a.instance_id = ANY ($2))
    GROUP BY a.instance_id
    UNION ALL
    SELECT other.id::uuid, 1, CASE WHEN a.severity = 'critical' THEN 1 ELSE 0 END
    FROM alerts_v5.alerts a
    CROSS JOIN LATERAL unnest(string_to_array(a.other_instance_ids, ',')) AS other (id)
    WHERE a.organization_id = $1 AND a.other_instance_ids <> '' AND a.resolved_at IS NULL AND NOT a.muted
      AND (coalesce(cardinality($2::uuid[]), 0) = 0 OR other.id::uuid = ANY ($2))
) counted
GROUP BY instance
