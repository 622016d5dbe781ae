SELECT v.id, v.member_id, coalesce(m.name, '') AS member_name, v.name, v.query, v.shared, v.created_at
FROM views v LEFT JOIN members m ON m.organization_id = v.organization_id AND m.id = v.member_id
WHERE v.organization_id = $1 AND (v.member_id = $2 OR v.shared)
ORDER BY v.member_id IS DISTINCT FROM $2, lower(v.name), v.id
LIMIT $3
