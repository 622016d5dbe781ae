-- A page of a log behind a position that the group has not come to yet, as far as who
-- it follows has come.
WITH page AS (
    SELECT record_send(e) AS event
    FROM events e
    WHERE e.log = $1 AND e.position > $2
      AND e.position <= coalesce((SELECT position FROM checkpoints WHERE consumer_group = $3 AND log = $1),
                               9223372036854775807)
    ORDER BY e.position
    LIMIT $4
)
SELECT string_agg(event, ''::bytea) FROM page
