-- Owner: commands. Where alerts move faster than their log.
-- +goose Up

-- Until when an open alert was seen firing: later than its events say, which
-- follow once an hour (a thousand firing alerts would cost a gigabyte of log a
-- day). Readers join it. ends_at is when the alert is over unless it is heard of
-- again before. The row goes with the event that closes the alert.
CREATE TABLE alert_last_seen (
    alert_id          uuid        NOT NULL PRIMARY KEY,
    organization_id   uuid        NOT NULL,
    last_triggered_at timestamptz NOT NULL,
    ends_at           timestamptz
);
CREATE INDEX alert_last_seen_latest ON alert_last_seen (organization_id, last_triggered_at DESC, alert_id DESC);
CREATE INDEX alert_last_seen_ending ON alert_last_seen (ends_at) WHERE ends_at IS NOT NULL;

-- +goose Down
DROP TABLE alert_last_seen;
