-- Which of the keys $2 of organization $1 lead to an alert that is closed.
SELECT k.key FROM stream_keys k
WHERE k.organization_id = $1 AND k.stream_type = 'alert' AND k.key = ANY ($2::text[])
  AND EXISTS (
    SELECT FROM events e
    WHERE e.log = 'fleet' AND e.organization_id = $1 AND e.stream_id = k.stream_id
      AND e.type IN ('alert.resolved', 'alert.auto_resolved'))
