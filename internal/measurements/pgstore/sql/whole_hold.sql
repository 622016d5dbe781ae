-- Holds a whole until the transaction ends; no row where another process does. What is kept
-- is judged by the clock that deletes it.
SELECT begun, now() AS at FROM wholes
WHERE organization_id = $1 AND kind = $2 AND engine = $3
FOR UPDATE SKIP LOCKED
