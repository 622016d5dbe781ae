-- How far a handler is in each of its logs, as select_statuses.sql has it of projections.
SELECT c.consumer_group AS name,
       h.log,
       c.position,
       h.position AS head,
       coalesce(extract(epoch FROM now() - e.recorded_at), 0)::float8 AS lag_seconds,
       extract(epoch FROM now() - c.updated_at)::float8 AS idle_seconds,
       c.updated_at,
       coalesce(c.last_error, '') AS last_error,
       greatest(c.position - h.position, 0) AS ahead_events,
       (SELECT count(*) FROM dead_letters d WHERE d.consumer_group = c.consumer_group AND d.log = c.log) AS parked,
       false AS rebuilding
FROM checkpoints c
JOIN log_head h ON h.log = c.log
LEFT JOIN events e ON e.log = c.log AND e.position = c.position + 1
WHERE c.consumer_group = $1
