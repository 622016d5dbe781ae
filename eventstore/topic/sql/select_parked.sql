-- The parked events of one stream, the failing one first.
WITH page AS (
    SELECT e.position, record_send(e) AS event
    FROM dead_letters d
    JOIN events e ON e.log = d.log AND e.position = d.position
    WHERE d.consumer_group = $1 AND d.log = $2 AND d.stream_id = $3
    ORDER BY d.position
    LIMIT $4
)
SELECT string_agg(event, ''::bytea) FROM page
