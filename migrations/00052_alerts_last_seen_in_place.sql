-- Owned by commands. What moves every minute stands in no index.
-- +goose Up

-- A thousand alerts that fire all day moved 1,440,000 rows, and each move cost two
-- locks, a row, and an entry in each of three indexes: 907 MB of WAL. Without an index
-- on a time a row is moved within its page (HOT), for which the page has room, and the
-- indexes stay as they are. Who wants the latest first sorts what is open; who looks
-- for ends that have passed reads what is open.
DROP INDEX alert_last_seen_latest;
DROP INDEX alert_last_seen_ending;
CREATE INDEX alert_last_seen_of_organization ON alert_last_seen (organization_id);
ALTER TABLE alert_last_seen SET (fillfactor = 40);

-- +goose Down
ALTER TABLE alert_last_seen RESET (fillfactor);
DROP INDEX alert_last_seen_of_organization;
CREATE INDEX alert_last_seen_latest ON alert_last_seen (organization_id, last_triggered_at DESC, alert_id DESC);
CREATE INDEX alert_last_seen_ending ON alert_last_seen (ends_at) WHERE ends_at IS NOT NULL;
