-- The last but $3 of the marks that organization $1 has set since $2, removed ones too: when it leaves the day, there
-- is room for one more.
SELECT created_at
FROM chart_marks
WHERE organization_id = $1 AND created_at > $2
ORDER BY created_at DESC
LIMIT 1 OFFSET $3
