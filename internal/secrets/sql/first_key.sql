-- The first process names the installation's key. Whoever comes later changes
-- nothing here and compares.
WITH first AS (
    INSERT INTO installation (name, fingerprint) VALUES ($1, $2)
    ON CONFLICT (name) DO NOTHING
    RETURNING fingerprint
)
INSERT INTO installation_keys (fingerprint, public_key)
SELECT fingerprint, $3 FROM first
ON CONFLICT (fingerprint) DO NOTHING
