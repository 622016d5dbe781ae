CREATE TABLE instances (
    id              uuid        NOT NULL PRIMARY KEY,
    organization_id uuid        NOT NULL,
    external_id     text        NOT NULL,
    name            text        NOT NULL,
    engine          text        NOT NULL,
    version         text        NOT NULL,
    host            text        NOT NULL,
    active          boolean     NOT NULL,
    created_at      timestamptz NOT NULL,
    tags            jsonb       NOT NULL -- by key: "value", and "by" where no person set it
);
CREATE INDEX instances_listing ON instances (organization_id, (lower(name)) COLLATE "C", id);
-- The counts and the first registration, from the index alone.
CREATE INDEX instances_created ON instances (organization_id, created_at);
-- What filters and the labels of alerts call an instance.
CREATE INDEX instances_named ON instances (organization_id, name);
CREATE INDEX instances_keyed ON instances (organization_id, external_id);
CREATE INDEX instances_hosted ON instances (organization_id, host);
CREATE INDEX instances_looked_up ON instances (organization_id, host_lookup(host));

CREATE TABLE databases (
    id              uuid        NOT NULL PRIMARY KEY,
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    external_id     text        NOT NULL,
    name            text        NOT NULL,
    created_at      timestamptz NOT NULL
);
CREATE INDEX databases_listing ON databases (instance_id, (lower(name)) COLLATE "C", id);
-- The counts, of the organization and of some of its instances, from the index alone.
CREATE INDEX databases_created ON databases (organization_id, instance_id, created_at);

-- What was removed, as it was called last: measurements of it are still shown.
CREATE TABLE gone (
    id              uuid NOT NULL PRIMARY KEY,
    organization_id uuid NOT NULL,
    name            text NOT NULL,
    engine          text NOT NULL -- of an instance; empty: it was a database
);
