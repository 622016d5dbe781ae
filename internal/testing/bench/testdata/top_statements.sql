SELECT left(regexp_replace(query, '\s+', ' ', 'g'), 90) AS query, calls, total_exec_time AS ms, rows, wal_bytes::bigint AS wal
FROM pg_stat_statements ORDER BY total_exec_time DESC LIMIT 15
