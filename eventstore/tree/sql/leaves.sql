SELECT digest, recorded_at FROM events WHERE log = $1 AND position > $2 AND position <= $3 ORDER BY position
