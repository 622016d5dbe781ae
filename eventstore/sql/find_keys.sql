SELECT k.key, k.stream_id, k.version, k.state_digest
FROM stream_keys k
WHERE k.organization_id = $1 AND k.stream_type = $2 AND k.key = ANY($3::text[]) AND k.stream_id IS NOT NULL
