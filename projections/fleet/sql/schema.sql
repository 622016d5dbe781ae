CREATE TABLE instances (
    id              uuid        NOT NULL PRIMARY KEY,
    organization_id uuid        NOT NULL,
    external_id     text        NOT NULL,
    name            text        NOT NULL,
    engine          text        NOT NULL,
    version         text        NOT NULL,
    host            text        NOT NULL,
    active          boolean     NOT NULL,
    created_at      timestamptz NOT NULL
);

CREATE TABLE databases (
    id              uuid        NOT NULL PRIMARY KEY,
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    external_id     text        NOT NULL,
    name            text        NOT NULL,
    created_at      timestamptz NOT NULL
);
CREATE INDEX databases_listing ON databases (instance_id, (lower(name)) COLLATE "C", id);

-- What was removed, as it was called last: measurements of it are still shown.
CREATE TABLE gone (
    id              uuid NOT NULL PRIMARY KEY,
    organization_id uuid NOT NULL,
    name            text NOT NULL,
    engine          text NOT NULL -- of an instance; empty: it was a database
);
