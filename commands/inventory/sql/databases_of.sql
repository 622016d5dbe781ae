SELECT d.external_id, k.stream_id
FROM instance_databases d
JOIN stream_keys k ON k.organization_id = d.organization_id AND k.stream_type = $3
    AND k.key = (d.instance_id::text || '/' || d.external_id) COLLATE "C" AND k.stream_id IS NOT NULL
WHERE d.organization_id = $1 AND d.instance_id = $2
