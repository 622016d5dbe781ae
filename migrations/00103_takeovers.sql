-- Owner: internal/measurements/pgstore. When a sender took the statements of an instance over
-- from another, and from when on it has counted them.
-- Step: expand
-- A program from before notes no takeover.
-- +goose Up
ALTER TABLE statement_turns
    ADD COLUMN taken_at   timestamptz, -- the last takeover; null: there was none
    ADD COLUMN resumed_at timestamptz; -- where its first sample that was kept begins; null: there is none yet

-- +goose Down
ALTER TABLE statement_turns DROP COLUMN taken_at, DROP COLUMN resumed_at;
