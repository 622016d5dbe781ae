-- Muster's own statements of instances ($3, or of all where $2) and, where it is given, of a
-- database. They are few, and the index has no others.
SELECT m.subject::uuid AS instance, s.hash
FROM measured_statements s
JOIN measured_series m ON m.id = s.series_id
WHERE s.own AND m.organization_id = $1 AND m.kind = 'statements' AND ($2::boolean OR m.subject = ANY ($3::text[]))
  AND ($4::uuid IS NULL OR s.database_id = $4)
