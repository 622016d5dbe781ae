SELECT position, organization_id, stream_id, type, schema_version, occurred_at, recorded_at, data
FROM events
WHERE log = $1 AND position > $2 AND position <= $3 AND type = ANY ($4::text[]) AND organization_id = $5
ORDER BY position
