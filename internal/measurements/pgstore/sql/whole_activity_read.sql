-- What a whole has of a dimension ($3) in rows of a width ($4).
SELECT start, lines FROM whole_activity
WHERE organization_id = $1 AND engine = $2 AND dimension = $3 AND width = $4 AND start >= $5 AND start < $6
ORDER BY start
