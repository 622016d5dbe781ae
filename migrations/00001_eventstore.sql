-- Owner: eventstore.

-- +goose Up

-- One row a log. Its lock is what makes position order commit order, and its
-- recorded_at is what keeps recorded_at from running backwards when the clock does.
CREATE TABLE log_head (
    log         text        PRIMARY KEY,
    position    bigint      NOT NULL CHECK (position >= 0),
    hash        bytea       NOT NULL CHECK (length(hash) = 32),
    recorded_at timestamptz NOT NULL
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);

INSERT INTO log_head (log, position, hash, recorded_at)
SELECT log, 0, decode(repeat('00', 32), 'hex'), '2000-01-01T00:00:00Z'
FROM unnest(ARRAY['reports', 'organization', 'fleet']) AS log;

CREATE TABLE events (
    log             text        NOT NULL,
    position        bigint      NOT NULL,
    organization_id uuid        NOT NULL,
    stream_type     text        NOT NULL,
    stream_id       uuid        NOT NULL,
    version         bigint      NOT NULL,
    type            text        NOT NULL,
    schema_version  integer     NOT NULL,
    occurred_at     timestamptz NOT NULL,
    recorded_at     timestamptz NOT NULL,
    data            bytea       NOT NULL,
    metadata        bytea       NOT NULL,
    digest          bytea       NOT NULL,
    hash            bytea       NOT NULL,
    PRIMARY KEY (log, position),
    CONSTRAINT events_stream_version UNIQUE (stream_id, version)
);

CREATE INDEX events_organization ON events (log, organization_id, position);

-- External key to stream. version 0 is a key that was reserved and came to nothing.
CREATE TABLE stream_keys (
    organization_id uuid   NOT NULL,
    stream_type     text   NOT NULL,
    key             text   COLLATE "C" NOT NULL,
    stream_id       uuid,
    version         bigint NOT NULL DEFAULT 0,
    state_digest    bytea,
    PRIMARY KEY (organization_id, stream_type, key)
) WITH (fillfactor = 70);

-- +goose Down
DROP TABLE stream_keys;
DROP TABLE events;
DROP TABLE log_head;
