-- Empties up to $2 addresses from before $1. SKIP LOCKED: somebody else is at it.
UPDATE security_log SET ip = ''
WHERE id IN (SELECT id FROM security_log WHERE at < $1 AND ip <> '' ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)
