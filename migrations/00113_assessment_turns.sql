-- Owner: internal/assessment. The first server of each organization that is due, for turns
-- between organizations.
-- Step: expand
-- A program from before claims the server that is due longest, whosever it is.
-- +goose Up
CREATE INDEX assessment_targets_turns ON assessment_targets (organization_id, next_assessment_at);
CREATE INDEX assessment_targets_light_turns ON assessment_targets (organization_id, next_light_look_at);

-- +goose Down
DROP INDEX assessment_targets_light_turns;
DROP INDEX assessment_targets_turns;
