-- Owned by internal/intake/heartbeat. How agents are, and what they say of the servers
-- that they measure.
-- +goose Up
CREATE TABLE agent_reports (
    organization_id uuid        NOT NULL,
    sender          text        NOT NULL,
    name            text        NOT NULL,
    version         text        NOT NULL,
    host            text        NOT NULL,
    buffer          json        NOT NULL,
    received_at     timestamptz NOT NULL,
    PRIMARY KEY (organization_id, sender)
) WITH (fillfactor = 70);

CREATE TABLE agent_instances (
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    sender          text        NOT NULL, -- who spoke of it last
    error           json,                 -- why it cannot be reached; null: it can be
    missing_grants  json        NOT NULL,
    received_at     timestamptz NOT NULL,
    PRIMARY KEY (organization_id, instance_id)
) WITH (fillfactor = 70);

-- +goose Down
DROP TABLE agent_instances;
DROP TABLE agent_reports;
