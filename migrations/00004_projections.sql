-- Owner: eventstore/topic and projections.
-- +goose Up

-- Where a consumer group of a log stands. The row is the group's lock: whoever
-- applies a page, replays a parked stream or switches a generation holds it.
CREATE TABLE checkpoints (
    consumer_group text        NOT NULL,
    handler        text        NOT NULL,
    log            text        NOT NULL,
    position       bigint      NOT NULL DEFAULT 0 CHECK (position >= 0),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    last_error     text,
    PRIMARY KEY (consumer_group, log)
) WITH (fillfactor = 50);
CREATE INDEX checkpoints_handler ON checkpoints (handler, log);

-- Events set aside: the first of its stream carries the error, the ones behind
-- it wait (error is null) until it is retried or dropped.
CREATE TABLE dead_letters (
    id              uuid        NOT NULL PRIMARY KEY,
    consumer_group  text        NOT NULL,
    handler         text        NOT NULL,
    log             text        NOT NULL,
    position        bigint      NOT NULL,
    organization_id uuid        NOT NULL,
    stream_type     text        NOT NULL,
    stream_id       uuid        NOT NULL,
    event_type      text        NOT NULL,
    error           text,
    attempts        int         NOT NULL DEFAULT 0,
    parked_at       timestamptz NOT NULL DEFAULT now(),
    UNIQUE (consumer_group, log, position)
);
CREATE INDEX dead_letters_stream ON dead_letters (consumer_group, log, stream_id, position);

-- Events that an operator decided to leave out, for every later generation too.
CREATE TABLE dropped_events (
    handler    text        NOT NULL,
    log        text        NOT NULL,
    position   bigint      NOT NULL,
    dropped_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (handler, log, position)
);

-- One filling of a projection's tables, which lie in the schema of the group's
-- name. filling: behind the live one and never ahead of it; compared: its
-- difference is known; live: what the views show; retired: kept for the grace
-- time; stopped: a difference held the rebuild up.
CREATE TABLE projection_generations (
    id                 bigint      NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    projection         text        NOT NULL,
    version            int         NOT NULL,
    generation         int         NOT NULL,
    consumer_group     text        NOT NULL UNIQUE,
    state              text        NOT NULL CHECK (state IN ('filling', 'compared', 'live', 'retired', 'stopped')),
    stop_on_difference boolean     NOT NULL DEFAULT false,
    difference         jsonb,
    created_at         timestamptz NOT NULL DEFAULT now(),
    switched_at        timestamptz,
    ended_at           timestamptz,
    dropped_at         timestamptz,
    UNIQUE (projection, version, generation)
);
CREATE UNIQUE INDEX projection_generations_live ON projection_generations (projection, version) WHERE state = 'live';
CREATE UNIQUE INDEX projection_generations_filling ON projection_generations (projection, version) WHERE state IN ('filling', 'compared');

-- When a version of a projection was last read by a running process.
CREATE TABLE projection_versions (
    projection text        NOT NULL,
    version    int         NOT NULL,
    used_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (projection, version)
);

-- What each member has seen of the export tray: everything not newer than
-- (created_at, report_id) that was Ready by ready_position of the reports log.
CREATE TABLE export_marks (
    organization_id uuid        NOT NULL,
    member_id       uuid        NOT NULL,
    report_id       uuid        NOT NULL,
    created_at      timestamptz NOT NULL,
    ready_position  bigint      NOT NULL,
    PRIMARY KEY (organization_id, member_id)
);

-- +goose Down
DROP TABLE export_marks;
DROP TABLE projection_versions;
DROP TABLE projection_generations;
DROP TABLE dropped_events;
DROP TABLE dead_letters;
DROP TABLE checkpoints;
