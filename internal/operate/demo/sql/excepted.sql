-- The exception to check $3 that member $2 of organization $1 asked for first,
-- and whether somebody has granted it, or refused it or taken it back.
SELECT r.stream_id AS id,
       EXISTS (SELECT FROM events d
               WHERE d.organization_id = r.organization_id AND d.stream_id = r.stream_id
                 AND d.type = 'exception.granted') AS granted,
       EXISTS (SELECT FROM events d
               WHERE d.organization_id = r.organization_id AND d.stream_id = r.stream_id
                 AND d.type = 'exception.revoked') AS revoked
FROM events r
WHERE r.log = 'organization' AND r.organization_id = $1 AND r.type = 'exception.requested'
  AND convert_from(r.metadata, 'UTF8')::jsonb ->> 'actorId' = $2
  AND convert_from(r.data, 'UTF8')::jsonb ->> 'checkId' = $3
ORDER BY r.position
LIMIT 1
