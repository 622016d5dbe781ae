-- PostgreSQL 13, where no lock says since when it is waited for: since the statement
-- began, at the longest.
SELECT coalesce(max(extract(epoch FROM clock_timestamp() - query_start)), 0)
FROM pg_stat_activity
WHERE wait_event_type = 'Lock' AND backend_type = 'client backend'
