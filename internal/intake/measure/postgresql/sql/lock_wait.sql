-- PostgreSQL 14 and newer, where a waiter's lock says since when (it is null for a
-- moment as the wait begins). Seconds that the client session has waited which waits
-- longest; none waits: 0.
SELECT coalesce(max(extract(epoch FROM clock_timestamp() - l.waitstart)), 0)
FROM pg_locks l
JOIN pg_stat_activity a ON a.pid = l.pid
WHERE NOT l.granted AND a.backend_type = 'client backend'
