-- A page of a log between two positions, for a caller who holds the checkpoint.
WITH page AS (
    SELECT position, organization_id, stream_type, stream_id, version, type, schema_version,
           occurred_at, recorded_at, data, metadata
    FROM events
    WHERE log = $1 AND position > $2 AND position <= $3
    ORDER BY position
    LIMIT $4
)
SELECT string_agg(record_send(page), ''::bytea ORDER BY position) FROM page
