CREATE TABLE exceptions (
    id              uuid        NOT NULL PRIMARY KEY,
    organization_id uuid        NOT NULL,
    status          text        NOT NULL, -- requested, granted, revoked; lapsed is judged at every read
    check_id        text        NOT NULL,
    instance_id     uuid,                 -- null: all
    database_id     uuid,                 -- null: all
    object_ref      text        NOT NULL, -- empty: all
    reason          text        NOT NULL,
    until           timestamptz NOT NULL,
    requested_by    uuid        NOT NULL,
    requested_at    timestamptz NOT NULL,
    decided_by      uuid,
    decided_at      timestamptz
);
CREATE INDEX exceptions_listing ON exceptions (organization_id, requested_at DESC, id DESC);
