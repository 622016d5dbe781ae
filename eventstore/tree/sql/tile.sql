SELECT hashes FROM log_tiles WHERE log = $1 AND level = $2 AND index = $3
