-- Owned by internal/assessment/changes. What a server was like at its last assessment,
-- and the values of what changed since the one before; the log has their digests.
-- +goose Up
CREATE TABLE instance_states (
    organization_id uuid NOT NULL,
    instance_id     uuid NOT NULL,
    -- json, not jsonb: the exact text, and U+0000 in a string does not lose the row.
    state           json NOT NULL, -- settings, roles, grants, lines of pg_hba.conf, extensions
    told            json NOT NULL, -- what the log was told last, less the changes
    PRIMARY KEY (organization_id, instance_id)
);

CREATE TABLE instance_change_values (
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    assessment_id   uuid        NOT NULL,
    nth             integer     NOT NULL, -- of the changes of its event
    recorded_at     timestamptz NOT NULL,
    name            text        NOT NULL,
    before_value    text,                 -- null: it was not there, or may hold a secret
    after_value     text,                 -- likewise
    PRIMARY KEY (assessment_id, nth)
);
CREATE INDEX instance_change_values_instance ON instance_change_values (organization_id, instance_id, recorded_at);
CREATE INDEX instance_change_values_age ON instance_change_values (recorded_at);

-- What digests of changes are salted with.
CREATE TABLE change_salts (
    organization_id uuid  PRIMARY KEY,
    salt            bytea NOT NULL
);

-- +goose Down
DROP TABLE change_salts, instance_change_values, instance_states;
