CREATE TABLE entries (
    log             text        NOT NULL,
    position        bigint      NOT NULL,
    organization_id uuid        NOT NULL,
    at              timestamptz NOT NULL,
    type            text        NOT NULL,
    actor_id        text        NOT NULL,
    subject         uuid        NOT NULL,
    data            bytea       NOT NULL, -- the event's exact bytes
    PRIMARY KEY (log, position)
);
CREATE INDEX entries_trail ON entries (organization_id, subject, log, position);
CREATE INDEX entries_listing ON entries (organization_id, at DESC, log DESC, position DESC);
CREATE INDEX entries_by_type ON entries (organization_id, type, at, log, position);
CREATE INDEX entries_by_actor ON entries (organization_id, actor_id, at, log, position);
