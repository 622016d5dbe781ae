-- $1: how long numbers are kept, $3: how long sides are.
DELETE FROM blocking_deadlocks WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM blocking_deadlocks
    WHERE at < now() - make_interval(secs => CASE WHEN tree IS NULL THEN $1::double precision ELSE $3::double precision END) LIMIT $2
))
