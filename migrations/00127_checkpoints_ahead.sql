-- Owner: eventstore/topic. A consumer group that had applied more than its log has: the log was
-- cut off, or set back.
-- Step: expand
-- A program from before writes neither column, and waits until the log has grown past such a
-- group, as it did.
-- +goose Up
ALTER TABLE checkpoints
    ADD COLUMN ahead_since  timestamptz,              -- null: never
    ADD COLUMN ahead_events bigint NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE checkpoints DROP COLUMN ahead_since, DROP COLUMN ahead_events;
