-- How many reports member $2 of organization $1 has created since $3, and when
-- the first of them was.
SELECT count(*) AS made, min(created_at) AS first
FROM report_creations
WHERE organization_id = $1 AND member_id = $2 AND created_at > $3
