-- Claims a key that is new, has aged out ($7), or whose claimant died ($8).
-- No row: somebody else holds it, or it has its answer.
INSERT INTO idempotency_keys AS k (member_id, route, key, claim, request_digest, claimed_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (member_id, route, key) DO UPDATE
SET claim = excluded.claim, request_digest = excluded.request_digest, claimed_at = excluded.claimed_at,
    status = NULL, headers = NULL, body = NULL
WHERE k.claimed_at < $7
   OR k.status IS NULL AND k.claimed_at < $8 AND k.request_digest = excluded.request_digest
RETURNING claim
