-- Owned by internal/assessment. Which server answers for an instance, by what it says of
-- itself: two instances of one server, and the copies of one cluster, are known by it.
-- Step: expand
-- A program from before neither reads nor writes it.
-- +goose Up
CREATE TABLE server_identities (
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    engine          text        NOT NULL,
    system_id       text        NOT NULL DEFAULT '', -- what copies have in common; empty: not known
    process_id      text        NOT NULL DEFAULT '', -- what tells copies apart; empty: not known
    role            text        NOT NULL DEFAULT '',
    pooling         text        NOT NULL DEFAULT '',
    separate        boolean     NOT NULL DEFAULT false, -- registered beside another instance of the server on purpose
    seen_at         timestamptz NOT NULL DEFAULT now(),
    moved_at        timestamptz,                        -- when another server answered than before
    PRIMARY KEY (organization_id, instance_id)
);
CREATE INDEX server_identities_system ON server_identities (organization_id, system_id);
CREATE INDEX server_identities_process ON server_identities (organization_id, process_id);
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON server_identities FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE server_identities;
