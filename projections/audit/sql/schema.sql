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
