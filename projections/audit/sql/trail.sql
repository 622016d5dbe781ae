SELECT log, position, at, type, actor_id, subject, data
FROM audit_v3.entries
WHERE organization_id = $1 AND subject = $2 AND position > $3
ORDER BY log, position
LIMIT $4
