-- Deletes the texts of an organization, in the order in which writers lock these rows.
WITH kept AS (
    SELECT s.series_id, s.hash
    FROM measured_series m
    JOIN measured_statements s ON s.series_id = m.id
    WHERE m.organization_id = $1 AND s.text IS NOT NULL
    ORDER BY s.series_id, s.hash
    FOR UPDATE OF s
)
UPDATE measured_statements s
SET text = NULL, text_digest = NULL
FROM kept k
WHERE s.series_id = k.series_id AND s.hash = k.hash
