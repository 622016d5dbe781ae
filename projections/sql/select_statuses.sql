-- One row a projection and log, as far as its live generation has come.
SELECT g.projection AS name,
       h.log,
       c.position,
       h.position AS head,
       coalesce(extract(epoch FROM now() - e.recorded_at), 0)::float8 AS lag_seconds,
       extract(epoch FROM now() - c.updated_at)::float8 AS idle_seconds,
       c.updated_at,
       coalesce(c.last_error, '') AS last_error,
       CASE WHEN c.ahead_since IS NULL THEN 0 ELSE c.ahead_events END + greatest(c.position - h.position, 0) AS ahead_events,
       (SELECT count(*) FROM dead_letters d WHERE d.consumer_group = c.consumer_group AND d.log = c.log) AS parked,
       EXISTS (SELECT FROM projection_generations f
               WHERE f.projection = g.projection AND f.version = g.version
                 AND f.state IN ('filling', 'compared')) AS rebuilding
FROM unnest($1::text[], $2::int[]) AS p (name, version)
JOIN projection_generations g ON g.projection = p.name AND g.version = p.version AND g.state = 'live'
JOIN checkpoints c ON c.consumer_group = g.consumer_group
JOIN log_head h ON h.log = c.log
LEFT JOIN events e ON e.log = c.log AND e.position = c.position + 1
