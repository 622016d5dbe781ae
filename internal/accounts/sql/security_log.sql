SELECT id, at, organization_id, member_id, type, ip, request_id, detail, component
FROM security_log
WHERE organization_id = $1 AND at >= $2 AND at < $3 AND (at, id) < ($4, $5)
ORDER BY at DESC, id DESC
LIMIT $6
