-- Owner: internal/measurements/replication. Who follows whom, how far standbys lag, and changes of roles.
-- Step: expand
-- A program from before neither reads nor writes any of it.
-- +goose Up

-- The newest state of each server. The figures of the columns are also in the state (State.Figures).
CREATE TABLE replication_states (
    organization_id uuid             NOT NULL,
    instance_id     uuid             NOT NULL,
    at              timestamptz      NOT NULL,
    role            text             NOT NULL,
    role_since      timestamptz,     -- null: it was never seen in another role
    condition       text             NOT NULL,
    condition_since timestamptz,     -- null: it works
    lag_seconds     double precision, -- null, as the two below: not known
    lag_bytes       bigint,
    retained_bytes  bigint,
    links           text[]           NOT NULL, -- what it has in common with those that it replicates with (State.Links)
    state           jsonb            NOT NULL, -- State
    PRIMARY KEY (organization_id, instance_id)
);

-- When a server was first seen in another role than before: a failover, or a promotion.
CREATE TABLE replication_roles (
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    at              timestamptz NOT NULL,
    was             text        NOT NULL,
    role            text        NOT NULL,
    timeline        bigint      NOT NULL, -- PostgreSQL's, after the change; 0: it is not known
    PRIMARY KEY (organization_id, instance_id, at)
);
CREATE INDEX replication_roles_at ON replication_roles (organization_id, at);

CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON replication_states FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON replication_roles FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE replication_states, replication_roles;
