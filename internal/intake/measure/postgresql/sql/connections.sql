-- PostgreSQL 13 and newer. How many connections clients have, ours too, and how many they may have that are no
-- superusers.
SELECT count(*), greatest(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int, 1)
FROM pg_stat_activity
WHERE backend_type = 'client backend'
