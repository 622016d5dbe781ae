-- Owner: handlers/jobs. The first job of each organization, for turns between organizations.
-- Step: expand
-- A program from before claims the oldest job, whosever it is.
-- +goose Up
CREATE INDEX jobs_turns ON jobs (kind, organization_id, due_at, id) WHERE dead_at IS NULL;

-- +goose Down
DROP INDEX jobs_turns;
