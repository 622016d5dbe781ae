-- Opens a session of the member $7, and remembers the network $9 that they came
-- from; older ones than $10 are forgotten. Of their other sessions the $12 used
-- last go on, and those that ended before $11 are deleted.
WITH signed_in AS (
    UPDATE members SET last_sign_in_at = $3 WHERE id = $7 AND status = 'active' RETURNING id, organization_id
), remembered AS (
    INSERT INTO sign_in_addresses (member_id, network, last_at) SELECT id, $9, $3 FROM signed_in
    ON CONFLICT (member_id, network) DO UPDATE SET last_at = greatest(sign_in_addresses.last_at, $3)
), forgotten AS (
    DELETE FROM sign_in_addresses WHERE member_id = $7 AND network <> $9 AND last_at < $10
), ended AS (
    DELETE FROM sessions WHERE member_id = $7 AND (expires_at < $11 OR id NOT IN (
        SELECT id FROM sessions WHERE member_id = $7 ORDER BY last_seen_at DESC, id DESC LIMIT $12))
)
INSERT INTO sessions (id, token_hash, organization_id, member_id, created_at, last_seen_at, expires_at, ip, user_agent, method)
SELECT $1, $2, organization_id, id, $3, $3, $4, $5, $6, $8 FROM signed_in
