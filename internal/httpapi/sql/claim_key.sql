-- Claims a key that is new, has aged out ($8), or whose claimant died ($9). Who
-- takes over from a dead one makes what that one may have made already.
-- No row: somebody else holds it, or it has its answer.
INSERT INTO idempotency_keys AS k (member_id, route, key, claim, made, request_digest, claimed_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (member_id, route, key) DO UPDATE
SET claim = excluded.claim, request_digest = excluded.request_digest, claimed_at = excluded.claimed_at,
    made = CASE WHEN k.claimed_at < $8 THEN excluded.made ELSE k.made END,
    status = NULL, headers = NULL, body = NULL
WHERE k.claimed_at < $8
   OR k.status IS NULL AND k.claimed_at < $9 AND k.request_digest = excluded.request_digest
RETURNING made
