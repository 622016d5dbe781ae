-- Owner: internal/watch/status. When connections to a server failed that had succeeded.
-- Step: expand
-- A program from before counts none, and leaves what is counted.
-- +goose Up
ALTER TABLE observations ADD COLUMN fell timestamptz[] NOT NULL DEFAULT '{}'; -- of the part connection: the last 20

-- +goose Down
ALTER TABLE observations DROP COLUMN fell;
