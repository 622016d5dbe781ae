-- Owned by internal/assessment. Which limited token told of a server: other instances are
-- not shown as the same server by its word.
-- Step: expand
-- A program from before leaves it empty, which counts as before.
-- +goose Up
ALTER TABLE server_identities ADD COLUMN told_by uuid; -- null: Muster itself met it, or a token without a limit told of it

-- +goose Down
ALTER TABLE server_identities DROP COLUMN told_by;
