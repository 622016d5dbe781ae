-- Owner: commands. Where alerts move faster than their log.
-- +goose Up

-- Until when an open alert was seen firing: later than its events say, which
-- follow once an hour (a thousand firing alerts would cost a gigabyte of log a
-- day). Readers join it. The row goes with the event that closes the alert, and
-- is written under the lock of the alert's key.
CREATE TABLE alert_last_seen (
    alert_id          uuid        NOT NULL PRIMARY KEY,
    organization_id   uuid        NOT NULL,
    last_triggered_at timestamptz NOT NULL,
    started_at        timestamptz, -- the latest start that a machine named
    ends_at           timestamptz, -- when the alert is over unless it is heard of again before
    key               text         -- what the alert is locked by; known where it ends by itself
);
CREATE INDEX alert_last_seen_latest ON alert_last_seen (organization_id, last_triggered_at DESC, alert_id DESC);
CREATE INDEX alert_last_seen_ending ON alert_last_seen (ends_at) WHERE ends_at IS NOT NULL;

-- +goose Down
DROP TABLE alert_last_seen;
