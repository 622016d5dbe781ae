WITH signed_in AS (
    UPDATE members SET last_sign_in_at = $3 WHERE id = $7 AND status = 'active' RETURNING id, organization_id
)
INSERT INTO sessions (id, token_hash, organization_id, member_id, created_at, last_seen_at, expires_at, ip, user_agent, method)
SELECT $1, $2, organization_id, id, $3, $3, $4, $5, $6, $8 FROM signed_in
