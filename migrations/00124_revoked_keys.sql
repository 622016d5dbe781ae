-- Owner: internal/proof/signing. Since when somebody else may have a key, and why.
-- Step: expand
-- A program from before leaves both columns alone and publishes revoked keys as retired.
-- +goose Up
ALTER TABLE published_keys ADD COLUMN revoked_at timestamptz;
ALTER TABLE published_keys ADD COLUMN reason text;

-- +goose Down
ALTER TABLE published_keys DROP COLUMN reason;
ALTER TABLE published_keys DROP COLUMN revoked_at;
