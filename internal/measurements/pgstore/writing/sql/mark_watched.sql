-- Notes since when the statements of series are watched. They are ours, and next to none
-- is written: only one whose first sample this is, or an older one than all before.
UPDATE measured_series s SET watched_from = n.since
FROM unnest($1::bigint[], $2::timestamptz[]) AS n (id, since)
WHERE s.id = n.id AND (s.watched_from IS NULL OR s.watched_from > n.since)
