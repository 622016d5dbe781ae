-- Owner: internal/notify. Which rule an open alert is of, for rules that ask for instance.down.
-- Step: expand
-- A program from before leaves it empty: alerts that it raises match no such rule.
-- +goose Up
ALTER TABLE notification_alerts ADD COLUMN rule text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE notification_alerts DROP COLUMN rule;
