-- Owner: internal/notify. The teams whose events were in a mail of a channel of kind team.
-- Step: expand
-- A program from before writes none. Its mails of that kind are not shown as notifications about an alert.
-- +goose Up
ALTER TABLE delivery_mails ADD COLUMN teams uuid[]; -- null: the mail had all events of its delivery

-- +goose Down
ALTER TABLE delivery_mails DROP COLUMN teams;
