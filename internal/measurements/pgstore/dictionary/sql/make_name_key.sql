-- Makes a key, or returns the one that another process has made.
INSERT INTO measured_name_keys AS k (organization_id, key) VALUES ($1, $2)
ON CONFLICT (organization_id) DO UPDATE SET key = k.key
RETURNING key
