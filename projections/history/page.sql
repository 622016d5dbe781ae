SELECT {{columns}}
FROM report_history_v1.reports r
WHERE r.organization_id = $1 AND r.kind = $2
ORDER BY r.created_at DESC, r.id DESC
LIMIT $3 OFFSET $4
