-- The newest marks of organization $1 since $2 that are before the mark $4 at $3, at most $5. Marks at one time are in the
-- order of their ids.
SELECT id, at, text, tags, member_id, token_id, created_at
FROM chart_marks
WHERE organization_id = $1 AND at >= $2 AND at <= $3 AND (at, $4::uuid) < ($3, id) AND removed_at IS NULL
ORDER BY at DESC, id
LIMIT $5
