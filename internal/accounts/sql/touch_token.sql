-- The token $1 is used at $2 from $3. Two that come first at once wait for each
-- other here, and one of them is the first.
WITH before AS (SELECT id, last_used_at FROM tokens WHERE id = $1 FOR UPDATE)
UPDATE tokens SET last_used_at = greatest(tokens.last_used_at, $2), last_used_ip = $3
FROM before WHERE tokens.id = before.id
RETURNING organization_id, member_id, kind, before.last_used_at IS NULL AS first
