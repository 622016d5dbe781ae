-- Which reports that member $2 of organization $1 requested have a file that member $3
-- has never fetched.
SELECT q.stream_id FROM events q
WHERE q.log = 'reports' AND q.organization_id = $1 AND q.type = 'report.queued'
  AND convert_from(q.metadata, 'UTF8')::jsonb ->> 'actorId' = $2
  AND EXISTS (SELECT FROM events r WHERE r.stream_id = q.stream_id AND r.type = 'report.ready')
  AND NOT EXISTS (SELECT FROM events d
                  WHERE d.stream_id = q.stream_id AND d.type = 'report.downloaded'
                    AND convert_from(d.data, 'UTF8')::jsonb ->> 'memberId' = $3)
ORDER BY q.position
