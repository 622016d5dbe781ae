-- The events of some types of streams ($1), each of its organization ($2).
SELECT e.position, e.organization_id, e.stream_id, e.type, e.schema_version, e.occurred_at, e.data
FROM unnest($1::uuid[], $2::uuid[]) AS s (id, organization_id)
JOIN events e ON e.stream_id = s.id AND e.organization_id = s.organization_id AND e.type = ANY ($3::text[])
ORDER BY e.stream_id, e.version
