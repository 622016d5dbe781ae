SELECT id AS series_id, organization_id, kind, subject, engine, partial_from, partial_to,
    coalesce((SELECT ready FROM head_state), false) AS ready
FROM measured_series
WHERE organization_id = $1 AND kind = $2 AND engine = $3 AND ($4::boolean OR subject = ANY ($5::text[]))
ORDER BY id
