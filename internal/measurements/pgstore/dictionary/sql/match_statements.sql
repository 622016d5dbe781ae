-- The statements of instances ($3, or of all where $2) and, where it is given, of a
-- database, whose text has $5 in it, and that were executed for the first time within a
-- span, as far as is known: watched before it, and not counted by the server. strpos
-- needs no pattern and so none to be escaped.
SELECT m.subject::uuid AS instance, s.hash
FROM measured_series m
JOIN measured_statements s ON s.series_id = m.id
WHERE m.organization_id = $1 AND m.kind = 'statements' AND ($2::boolean OR m.subject = ANY ($3::text[]))
  AND ($4::uuid IS NULL OR s.database_id = $4)
  AND ($5::text = '' OR strpos(lower(s.text), lower($5)) > 0)
  AND ($6::timestamptz IS NULL OR s.first_seen >= $6 AND s.first_seen < $7 AND NOT s.ran_before AND m.watched_from <= $6)
