-- The tokens of an organization that expire from $2 until $3, and were not revoked before $2.
SELECT name, kind, expires_at FROM tokens
WHERE organization_id = $1 AND created_at < $2 AND expires_at >= $2 AND expires_at < $3 AND (revoked_at IS NULL OR revoked_at >= $2)
ORDER BY expires_at, name, id
