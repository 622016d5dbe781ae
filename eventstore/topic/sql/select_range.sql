-- A page of a log between two positions, for a caller who holds the checkpoint.
WITH page AS (
    SELECT e.position, record_send(e) AS event
    FROM events e
    WHERE e.log = $1 AND e.position > $2 AND e.position <= $3
    ORDER BY e.position
    LIMIT $4
)
SELECT string_agg(event, ''::bytea) FROM page
