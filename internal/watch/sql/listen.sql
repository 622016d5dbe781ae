-- $1: now, $2: how long nobody may have listened for it to count as no gap.
UPDATE watch_state
SET listening_since = CASE WHEN listened_at >= $1::timestamptz - make_interval(secs => $2) THEN listening_since ELSE $1 END,
    listened_at = greatest(listened_at, $1)
