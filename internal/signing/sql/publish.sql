INSERT INTO published_keys (id, use, algorithm, public_key, verifier_key, certificate, fingerprint)
VALUES ($1, $2, $3, $4, nullif($5, ''), nullif($6, ''), nullif($7, ''))
ON CONFLICT (use, id) DO NOTHING
