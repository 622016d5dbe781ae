-- The events of some types ($3) of streams ($1), each of its organization ($2). Stream by stream: the planner
-- would rather read the whole log for a thousand of them.
SELECT e.position, e.organization_id, e.stream_id, e.type, e.schema_version, e.occurred_at, e.data
FROM unnest($1::uuid[], $2::uuid[]) AS s (id, organization_id)
CROSS JOIN LATERAL (
    SELECT * FROM events
    WHERE stream_id = s.id AND organization_id = s.organization_id AND type = ANY ($3::text[])
    ORDER BY version
) e
