INSERT INTO log_tiles (log, level, index, hashes) VALUES ($1, $2, $3, $4)
ON CONFLICT (log, level, index) DO UPDATE SET hashes = log_tiles.hashes || excluded.hashes
