-- Where programs are connected from that do not know migration $1. Those from before there
-- were steps do not say what they know. Each Muster has the pool "main".
SELECT DISTINCT coalesce(host(client_addr), 'this machine') AS place
FROM pg_stat_activity
WHERE datname = current_database()
    AND application_name ~ '^muster/main(@[0-9]+)?$'
    AND coalesce(substring(application_name FROM '@([0-9]+)$')::bigint, 0) < $1
ORDER BY place
