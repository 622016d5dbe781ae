-- What a page must not simply apply: streams that are parked, events that were dropped.
SELECT DISTINCT stream_id, 0::bigint AS position FROM dead_letters WHERE consumer_group = $1 AND log = $2
UNION ALL
SELECT NULL, position FROM dropped_events WHERE handler = $3 AND log = $2 AND position BETWEEN $4 AND $5
