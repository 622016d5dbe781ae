-- Owner: internal/notify. Since when an open alert fires: the notice that it is over says how long it lasted.
-- Step: expand
-- A program from before leaves it null: such an alert's end says nothing of how long it lasted.
-- +goose Up
ALTER TABLE notification_alerts ADD COLUMN began_at timestamptz;

-- +goose Down
ALTER TABLE notification_alerts DROP COLUMN began_at;
