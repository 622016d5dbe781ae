-- The parked events of one stream, the failing one first.
WITH page AS (
    SELECT e.position, e.organization_id, e.stream_type, e.stream_id, e.version, e.type, e.schema_version,
           e.occurred_at, e.recorded_at, e.data, e.metadata
    FROM dead_letters d
    JOIN events e ON e.log = d.log AND e.position = d.position
    WHERE d.consumer_group = $1 AND d.log = $2 AND d.stream_id = $3
    ORDER BY d.position
    LIMIT $4
)
SELECT string_agg(record_send(page), ''::bytea ORDER BY position) FROM page
