-- Owner: commands. Which alerts are muted until a time.
-- +goose Up

-- For the sweep that ends mutes. The row is written in the transaction of the event that
-- says until when, under the lock of the alert's key, and goes with the next one that
-- says otherwise.
CREATE TABLE alert_mutes (
    alert_id        uuid        NOT NULL PRIMARY KEY,
    organization_id uuid        NOT NULL,
    until           timestamptz NOT NULL
);
CREATE INDEX alert_mutes_ending ON alert_mutes (until);

-- +goose Down
DROP TABLE alert_mutes;
