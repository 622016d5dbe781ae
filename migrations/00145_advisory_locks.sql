-- Owner: internal/accounts. Whether waits for advisory locks count for the watch.
-- Step: expand
-- A program from before raises alerts about them whatever the setting, and keeps it as it is.
-- +goose Up
ALTER TABLE organizations ADD COLUMN watch_advisory_locks text NOT NULL DEFAULT 'on'
    CONSTRAINT organizations_watch_advisory_locks_check CHECK (watch_advisory_locks IN ('off', 'on'));

-- +goose Down
ALTER TABLE organizations DROP COLUMN watch_advisory_locks;
