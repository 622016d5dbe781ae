-- What a tile shows of a whole ($4: the width of its rows).
SELECT start, slots FROM whole_rows
WHERE organization_id = $1 AND kind = $2 AND engine = $3 AND width = $4 AND start >= $5 AND start < $6
