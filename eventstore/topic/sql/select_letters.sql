SELECT d.id, d.consumer_group, d.handler, d.log, d.position, d.organization_id, d.stream_type,
       d.stream_id, d.event_type, d.error, d.attempts, d.parked_at,
       (SELECT count(*) FROM dead_letters w
        WHERE w.consumer_group = d.consumer_group AND w.log = d.log AND w.stream_id = d.stream_id
          AND w.position > d.position) AS waiting
FROM dead_letters d
WHERE d.error IS NOT NULL AND ($1 = '00000000-0000-0000-0000-000000000000'::uuid OR d.organization_id = $1)
