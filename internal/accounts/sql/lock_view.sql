SELECT v.id, v.member_id, coalesce(m.name, '') AS member_name, v.name, v.query, v.shared, v.created_at
FROM views v LEFT JOIN members m ON m.organization_id = v.organization_id AND m.id = v.member_id
WHERE v.organization_id = $1 AND v.id = $3 AND (v.member_id = $2 OR v.shared)
FOR UPDATE OF v
