-- Whether a report of kind $3 over all instances, which member $2 of organization $1
-- requested, has become ready.
SELECT EXISTS (
    SELECT FROM events q
    WHERE q.log = 'reports' AND q.organization_id = $1 AND q.type = 'report.queued'
      AND convert_from(q.metadata, 'UTF8')::jsonb ->> 'actorId' = $2
      AND convert_from(q.data, 'UTF8')::jsonb ->> 'kind' = $3
      AND convert_from(q.data, 'UTF8')::jsonb -> 'scope' -> 'instanceIds' = '[]'
      AND EXISTS (SELECT FROM events r WHERE r.log = 'reports' AND r.stream_id = q.stream_id AND r.type = 'report.ready'))
