-- Owner: commands/objectives (objectives), and internal/watch/uptime (uptime). The objectives of each organization by the time in which they held, and when servers were up or down.
-- Step: expand
-- A program from before neither reads nor writes them. While it alone judges servers, nothing is known of when they were up.
-- +goose Up
CREATE TABLE objectives (
    organization_id uuid        NOT NULL,
    items           jsonb       NOT NULL, -- []objective.Objective
    holds_from      timestamptz NOT NULL,
    holds_until     timestamptz,          -- when others replaced them; null: they hold
    PRIMARY KEY (organization_id, holds_from)
);
CREATE UNIQUE INDEX objectives_current ON objectives (organization_id) WHERE holds_until IS NULL;
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON objectives FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- A time in which a server was up, or down. Nothing is known of the time between them.
CREATE TABLE uptime (
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    since           timestamptz NOT NULL,
    up              boolean     NOT NULL,
    until           timestamptz NOT NULL,
    open            boolean     NOT NULL, -- it was still so when the server was last judged
    PRIMARY KEY (organization_id, instance_id, since, up)
);
-- until moves each minute: no other index has it, so that rows are changed in place.
ALTER TABLE uptime SET (fillfactor = 80);
CREATE UNIQUE INDEX uptime_open ON uptime (instance_id) WHERE open;
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON uptime FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE uptime;
DROP TABLE objectives;
