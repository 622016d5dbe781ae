-- Owner: internal/intake/heartbeat. Background loops of an agent that fell, as it said last.
-- Step: expand
-- A program from before neither takes nor shows them.
-- +goose Up
ALTER TABLE agent_reports ADD COLUMN loops jsonb NOT NULL DEFAULT '[]'; -- [{loop, falls, lastAt, inTrouble}]

-- +goose Down
ALTER TABLE agent_reports DROP COLUMN loops;
