-- Holds a whole until the transaction ends; no row where another process does.
SELECT begun FROM wholes
WHERE organization_id = $1 AND kind = $2 AND engine = $3
FOR UPDATE SKIP LOCKED
