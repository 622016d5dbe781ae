-- The next page of a group as one row. The checkpoint is locked first; a group
-- that had to wait for the lock reads the new position and an older snapshot of
-- events, which is a prefix of the log and so skips nothing. MATERIALIZED keeps
-- the lock in a node of its own. Where there is nothing to read nothing is
-- locked: a row lock is written to the WAL, and every look of an idle group
-- would flush it. record_send is PostgreSQL's binary row format.
WITH checkpoint AS MATERIALIZED (
    SELECT c.position
    FROM checkpoints c
    WHERE c.consumer_group = $1 AND c.log = $2
      AND c.position < (SELECT h.position FROM log_head h WHERE h.log = $2)
      AND c.position < coalesce((SELECT f.position FROM checkpoints f WHERE f.consumer_group = $3 AND f.log = $2),
                                9223372036854775807)
    FOR UPDATE OF c
), page AS (
    SELECT e.position, record_send(e) AS event
    FROM events e
    WHERE e.log = $2
      AND e.position > (SELECT position FROM checkpoint)
      AND e.position <= coalesce((SELECT position FROM checkpoints WHERE consumer_group = $3 AND log = $2),
                               9223372036854775807)
    ORDER BY e.position
    LIMIT $4
)
SELECT max(position), string_agg(event, ''::bytea)
FROM page
HAVING count(*) > 0
