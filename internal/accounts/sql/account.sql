-- The account of an address ($1), and whether its owner signed in from the
-- network $2 since $3.
SELECT id, organization_id, coalesce(email, '') AS email, name, role, status, last_sign_in_at, created_at, password_hash,
       EXISTS (SELECT FROM sign_in_addresses a WHERE a.member_id = members.id AND a.network = $2 AND a.last_at >= $3) AS known
FROM members
WHERE email = $1
