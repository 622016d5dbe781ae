DELETE FROM blocking_samples WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM blocking_samples WHERE at < now() - make_interval(secs => $1) LIMIT $2
))
