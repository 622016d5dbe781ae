-- Whether member $2 of organization $1 has requested a report of kind $3 over
-- the instances $4. The log says so, which no rebuild and no expiry changes.
SELECT EXISTS (
    SELECT FROM events
    WHERE log = 'reports' AND organization_id = $1 AND type = 'report.queued'
      AND convert_from(metadata, 'UTF8')::jsonb ->> 'actorId' = $2
      AND convert_from(data, 'UTF8')::jsonb ->> 'kind' = $3
      AND convert_from(data, 'UTF8')::jsonb -> 'scope' -> 'instanceIds' = $4::jsonb)
