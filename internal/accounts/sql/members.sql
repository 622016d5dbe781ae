SELECT id, organization_id, email, name, role, status, last_sign_in_at, created_at, count(*) OVER () AS total
FROM members
WHERE organization_id = $1 AND status <> 'erased' AND ($2 = '' OR name ILIKE $2 OR $5 AND email ILIKE $2)
ORDER BY lower(name), id
LIMIT $3 OFFSET $4
