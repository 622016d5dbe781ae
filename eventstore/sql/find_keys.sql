-- Each key is looked up by itself, for "key = ANY" may be planned as a filter: until
-- somebody had counted the rows, all keys of the organization were read for eight of
-- them, 2 ms of 3,000.
SELECT k.key, k.stream_id, k.version, k.state_digest
FROM unnest($3::text[]) AS asked (key)
CROSS JOIN LATERAL (
    SELECT k.key, k.stream_id, k.version, k.state_digest FROM stream_keys k
    WHERE k.organization_id = $1 AND k.stream_type = $2 AND k.key = asked.key COLLATE "C"
    LIMIT 1
) k
WHERE k.stream_id IS NOT NULL
