-- Owner: internal/accounts, and internal/watch (signs). How an organization has set its watch rules.
-- Step: expand
-- A program from before judges by the thresholds in organizations, which stay, and knows nothing of the rest. A breach that
-- has to last for a while is judged by programs from here on only.
-- +goose Up

-- A row for each rule that was set. The threshold for all servers of four rules (silent, volume, lock_wait, wraparound)
-- is with the organization, and 0 here.
CREATE TABLE watch_rules (
    organization_id uuid  NOT NULL REFERENCES organizations (id),
    rule            text  NOT NULL,
    settings        jsonb NOT NULL, -- []organization.WatchSetting
    PRIMARY KEY (organization_id, rule)
);
CREATE TRIGGER not_for_deleted_organizations BEFORE INSERT ON watch_rules FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

ALTER TABLE signs ADD COLUMN pending timestamptz; -- since when a figure has been beyond its threshold that is no breach yet

-- +goose Down
ALTER TABLE signs DROP COLUMN pending;
DROP TABLE watch_rules;
