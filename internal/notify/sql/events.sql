-- All of them are committed: positions up to a head that was read are, in order.
SELECT position, organization_id, stream_id, type, schema_version, occurred_at, recorded_at, data
FROM events
WHERE log = $1 AND position > $2 AND position <= $3 AND type = ANY ($4::text[])
ORDER BY position
