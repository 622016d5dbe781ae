-- Holds a series until the transaction ends; no row where somebody else does.
SELECT id AS series_id, organization_id, kind, subject, engine
FROM measured_series
WHERE id = $1
FOR NO KEY UPDATE SKIP LOCKED
