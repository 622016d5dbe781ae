-- Rows of a width ($4) that start from $5 on and before $6.
SELECT start, slots, hosts FROM whole_rows
WHERE organization_id = $1 AND kind = $2 AND engine = $3 AND width = $4 AND start >= $5 AND start < $6
ORDER BY start
