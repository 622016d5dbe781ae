-- Owner: internal/assessment. Since when every assessment of an instance has failed.
-- Step: expand
-- A program from before does not write it: it is then null, or the beginning of an earlier failure, until the
-- next assessment by the new program.
-- +goose Up
ALTER TABLE assessment_targets ADD COLUMN failing_since timestamptz; -- null: the last one succeeded, or there was none

-- +goose Down
ALTER TABLE assessment_targets DROP COLUMN failing_since;
