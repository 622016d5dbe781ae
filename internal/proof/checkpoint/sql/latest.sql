SELECT size, root, note, made_at, timestamp_token, extract(epoch FROM clock_timestamp() - made_at)::float8 AS age
FROM log_checkpoints WHERE log = $1
ORDER BY size DESC LIMIT 1
