-- The details of a size ($5) of an instance's statements ($2), closed or not.
SELECT d.start, d.body
FROM measured_series m
JOIN rolled_details d ON d.series_id = m.id AND d.size = $5 AND d.start >= $3 AND d.start < $4
WHERE m.organization_id = $1 AND m.kind = 'statements' AND m.subject = $2
