-- Owner: internal/accounts. Ingest tokens end with the member who minted them.
-- Step: expand
-- A program from before lets such a token in until it is revoked, and it is here.
-- +goose Up
UPDATE tokens t SET revoked_at = now()
FROM members m
WHERE m.id = t.member_id AND t.kind = 'ingest' AND t.revoked_at IS NULL AND m.status <> 'active';

-- +goose Down
SELECT 1; -- what is revoked stays so
