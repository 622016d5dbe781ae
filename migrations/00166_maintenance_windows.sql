-- Owner: commands/maintenance, and commands/alerting (alert_windows). Maintenance windows by the time in which their terms held, and which alerts were raised in one.
-- Step: expand
-- A program from before neither reads nor writes them, and sets aside the streams of their events. It notifies of alerts
-- that are raised in a window.
-- +goose Up
CREATE TABLE maintenance_windows (
    id              uuid        NOT NULL,
    organization_id uuid        NOT NULL,
    name            text        NOT NULL,
    terms           jsonb       NOT NULL, -- maintenance.Terms
    created_at      timestamptz NOT NULL, -- of the window
    holds_from      timestamptz NOT NULL,
    holds_until     timestamptz,          -- when other terms replaced these, or the window was removed; null: they hold
    PRIMARY KEY (id, holds_from)
);
CREATE UNIQUE INDEX maintenance_windows_current ON maintenance_windows (id) WHERE holds_until IS NULL;
CREATE INDEX maintenance_windows_of_organization ON maintenance_windows (organization_id, holds_until);
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON maintenance_windows FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- The alerts that were raised while all of their servers were in a window, as their events say.
CREATE TABLE alert_windows (
    organization_id uuid        NOT NULL,
    alert_id        uuid        NOT NULL PRIMARY KEY,
    window_id       uuid        NOT NULL,
    ends_at         timestamptz NOT NULL, -- of the window, as it was announced when the alert was raised
    raised_at       timestamptz NOT NULL
);
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON alert_windows FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE alert_windows;
DROP TABLE maintenance_windows;
