-- Of each stream with events behind $2 up to $3 the version before the first of them: it has
-- to be at $2 or before.
SELECT f.stream_id, p.version
FROM (
    SELECT DISTINCT ON (stream_id) stream_id, version
    FROM events WHERE log = $1 AND position > $2 AND position <= $3
    ORDER BY stream_id, position
) f
CROSS JOIN LATERAL (
    SELECT e.version FROM events e
    WHERE e.stream_id = f.stream_id AND e.version < f.version AND e.log = $1 AND e.position <= $2
    ORDER BY e.version DESC LIMIT 1
) p
