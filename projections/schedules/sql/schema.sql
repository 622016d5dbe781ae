CREATE TABLE schedules (
    id              uuid        NOT NULL PRIMARY KEY,
    organization_id uuid        NOT NULL,
    owner_id        uuid        NOT NULL,
    name            text        NOT NULL,
    terms           jsonb       NOT NULL,
    due_from        timestamptz NOT NULL, -- due times up to it get no fact any more
    created_at      timestamptz NOT NULL
);
CREATE INDEX schedules_listing ON schedules (organization_id, lower(name), id);

-- One for each due time that has a fact.
CREATE TABLE runs (
    schedule_id     uuid        NOT NULL,
    due_at          timestamptz NOT NULL,
    organization_id uuid        NOT NULL,
    status          text        NOT NULL,
    report_id       uuid,
    reason          text        NOT NULL, -- empty: none
    at              timestamptz NOT NULL,
    PRIMARY KEY (schedule_id, due_at)
);
