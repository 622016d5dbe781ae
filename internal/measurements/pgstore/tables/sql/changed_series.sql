-- The series of which a table has a row since a transaction.
SELECT id AS series_id, organization_id, kind, subject, engine
FROM measured_series
WHERE id IN ({changed})
ORDER BY id
