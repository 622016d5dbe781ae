-- Owned by internal/assessment/risks: since when each table with sensitive columns is in the risk register.
-- Rows begin with the first classification after this migration: older ones do not say when a table was first seen.
-- Step: expand
-- A program from before neither reads nor writes the table. What it classifies is on record from the next classification on.
-- +goose Up
CREATE TABLE data_risks (
    organization_id    uuid        NOT NULL,
    id                 text        NOT NULL, -- as reports print it
    instance_id        uuid        NOT NULL,
    database_name      text        NOT NULL,
    schema_name        text        NOT NULL,
    table_name         text        NOT NULL,
    first_seen_at      timestamptz NOT NULL, -- of the classifications that have found it since
    last_seen_at       timestamptz NOT NULL,
    gone_at            timestamptz,          -- a complete classification no longer found it
    ever_first_seen_at timestamptz,          -- before it had gone and came back
    earlier_gone_at    timestamptz,
    PRIMARY KEY (organization_id, id)
);
CREATE INDEX data_risks_instance ON data_risks (organization_id, instance_id, database_name);
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON data_risks FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE data_risks;
