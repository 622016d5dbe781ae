-- Owner: internal/accounts. The places of teams whose order somebody changed; null: behind them, in the order in which they were created.
-- Step: expand
-- A program from before takes the order in which teams were created, and adds teams behind all others.
-- +goose Up
ALTER TABLE teams ADD COLUMN position integer;

-- +goose Down
ALTER TABLE teams DROP COLUMN position;
