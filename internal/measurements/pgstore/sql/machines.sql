-- The newest raw samples in the head of hosts since a time, the newest first.
SELECT s.id AS series_id, r.at AS start, r.body
FROM unnest($1::bigint[]) AS s (id)
CROSS JOIN LATERAL (SELECT at, body FROM raw_samples WHERE series_id = s.id AND at >= $2 ORDER BY at DESC LIMIT 20) r
ORDER BY s.id, r.at DESC
