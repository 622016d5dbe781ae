-- What is open of each instance; without instances ($2) of all.
SELECT a.instance_id AS instance, count(*) AS open, count(*) FILTER (WHERE a.severity = 'critical') AS critical
FROM alerts_v3.alerts a
WHERE a.organization_id = $1 AND a.instance_id IS NOT NULL AND a.resolved_at IS NULL AND NOT a.muted
  AND (coalesce(cardinality($2::uuid[]), 0) = 0 OR a.instance_id = ANY ($2))
GROUP BY a.instance_id
