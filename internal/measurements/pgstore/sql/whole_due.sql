-- Those of some kinds ($1) of which something is to be made; first of all what has been measured lately.
SELECT w.organization_id AS organization, w.kind, w.engine
FROM wholes w
LEFT JOIN LATERAL (
    SELECT min(m.since) AS since FROM whole_marks m
    WHERE m.organization_id = w.organization_id AND m.kind = w.kind AND m.engine = w.engine
) AS marked ON true
WHERE w.kind = ANY ($1::text[]) AND w.due <= now() AND (NOT w.begun OR marked.since IS NOT NULL OR EXISTS (
    SELECT FROM whole_missing d
    WHERE d.organization_id = w.organization_id AND d.kind = w.kind AND d.engine = w.engine
))
ORDER BY marked.since, w.organization_id, w.kind, w.engine
