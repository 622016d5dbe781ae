-- Owner: internal/measurements/blocking. How episodes of who held up whom ended.
-- Step: expand
-- A program from before writes null: that is not known.
-- +goose Up
ALTER TABLE blocking_samples ADD COLUMN ended_by text;  -- End, of a sample in which nobody waits; null: not known
ALTER TABLE blocking_episodes ADD COLUMN ended_by text; -- that of the sample that ended it

-- +goose Down
ALTER TABLE blocking_episodes DROP COLUMN ended_by;
ALTER TABLE blocking_samples DROP COLUMN ended_by;
