-- Walks the log once, and only for an event that does not follow from its
-- neighbour. -1: it follows from no event that is left.
SELECT coalesce(
    (SELECT e.position FROM events e
     WHERE e.log = $1 AND sha256(e.hash || $3::bytea || timestamptz_send($4::timestamptz)) = $2::bytea
     LIMIT 1),
    CASE WHEN sha256(decode(repeat('00', 32), 'hex') || $3::bytea || timestamptz_send($4::timestamptz)) = $2::bytea
         THEN 0 ELSE -1 END)
