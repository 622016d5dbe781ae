SELECT id, subject, partial_from, partial_to
FROM measured_series
WHERE organization_id = $1 AND kind = $2 AND engine = $3 AND ($4::boolean OR subject = ANY ($5::text[]))
ORDER BY id
