-- Owner: internal/measurements/backups. The newest backups of each server and database, what their sources say, and when backups ended.
-- Step: expand
-- A program from before neither reads nor writes any of it.
-- +goose Up

-- What a source of a server said last: msdb, RMAN, the archiver, a tool beside an agent, or the feed.
CREATE TABLE backup_looks (
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    source          text        NOT NULL,
    at              timestamptz NOT NULL,
    state           jsonb       NOT NULL, -- Look, without its backups
    PRIMARY KEY (organization_id, instance_id, source)
);

-- The newest backup of each kind, by source. A database of zeros is the whole server.
CREATE TABLE backup_newest (
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    database_id     uuid        NOT NULL,
    kind            text        NOT NULL,
    source          text        NOT NULL,
    started_at      timestamptz, -- null, as the two below: not known
    finished_at     timestamptz NOT NULL,
    size_bytes      bigint,
    tool            text,
    PRIMARY KEY (organization_id, instance_id, database_id, kind, source)
);

-- The minutes of each day, in UTC, in which a backup ended. Whole is whether one can be restored by
-- itself; the others are of use only after one of these.
CREATE TABLE backup_days (
    organization_id uuid       NOT NULL,
    instance_id     uuid       NOT NULL,
    database_id     uuid       NOT NULL,
    whole           boolean    NOT NULL,
    day             date       NOT NULL,
    minutes         smallint[] NOT NULL, -- sorted, each once: at most 1,440
    PRIMARY KEY (organization_id, instance_id, database_id, whole, day)
);
CREATE INDEX backup_days_day ON backup_days (day);

CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON backup_looks FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON backup_newest FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON backup_days FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE backup_looks, backup_newest, backup_days;
