-- Two rows say that a name is not unique; "postgres" would have one an instance.
SELECT found.external_id, found.instance_id, k.stream_id
FROM (
    SELECT asked.external_id, (array_agg(d.instance_id))[1] AS instance_id
    FROM unnest($3::text[]) AS asked (external_id)
    CROSS JOIN LATERAL (
        SELECT d.instance_id FROM instance_databases d
        WHERE d.organization_id = $1 AND d.external_id = asked.external_id COLLATE "C"
            AND ($4::uuid[] IS NULL OR d.instance_id = ANY ($4))
        LIMIT 2
    ) d
    GROUP BY asked.external_id
    HAVING count(*) = 1
) found
JOIN stream_keys k ON k.organization_id = $1 AND k.stream_type = $2
    AND k.key = (found.instance_id::text || '/' || found.external_id) COLLATE "C" AND k.stream_id IS NOT NULL
