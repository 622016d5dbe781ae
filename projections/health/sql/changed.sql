SELECT key, max(at)
FROM health_v1.changes
WHERE organization_id = $1 AND instance_id = $2 AND kind = $3
GROUP BY key
