-- Owner: internal/assessment. Light looks, between two assessments.
-- Step: expand
-- A program from before neither reads nor writes any of it, and takes no light looks.
-- +goose Up
ALTER TABLE assessment_targets
    ADD COLUMN next_light_look_at timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN light_look         text        NOT NULL DEFAULT '', -- what the last one saw, as a digest
    ADD COLUMN light_look_told_at timestamptz;                     -- when one made the server due last
CREATE INDEX assessment_targets_light_look ON assessment_targets (next_light_look_at);

-- +goose Down
DROP INDEX assessment_targets_light_look;
ALTER TABLE assessment_targets DROP COLUMN next_light_look_at, DROP COLUMN light_look, DROP COLUMN light_look_told_at;
