-- Takes the newest days that are missing, $4 at most, away.
DELETE FROM whole_missing
WHERE organization_id = $1 AND kind = $2 AND engine = $3 AND day IN (
    SELECT day FROM whole_missing
    WHERE organization_id = $1 AND kind = $2 AND engine = $3
    ORDER BY day DESC
    LIMIT $4
)
RETURNING day
