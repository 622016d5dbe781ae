-- Owned by internal/assessment: how servers are reached, and what was seen there.
-- +goose Up
CREATE TABLE assessment_targets (
    organization_id    uuid        NOT NULL,
    instance_id        uuid        NOT NULL,
    engine             text        NOT NULL,
    sealed_dsn         bytea       NOT NULL,
    classify           text        NOT NULL DEFAULT 'names' CHECK (classify IN ('off', 'names', 'values')),
    next_assessment_at timestamptz NOT NULL DEFAULT now(),
    -- A claim: whoever holds the token writes the outcome; past leased_until
    -- the row is due again for anyone, whatever became of the claimant.
    lease_token        uuid,
    leased_until       timestamptz,
    -- Counts finished attempts, so that a waiter sees that one has ended since it asked.
    attempts           bigint      NOT NULL DEFAULT 0,
    last_seen_at       timestamptz,
    last_assessed_at   timestamptz,
    last_classified_at timestamptz,
    last_error_class   text        NOT NULL DEFAULT '',
    last_error         text        NOT NULL DEFAULT '',
    last_error_at      timestamptz,
    missing_grants     json        NOT NULL DEFAULT '[]',
    PRIMARY KEY (organization_id, instance_id)
);
CREATE INDEX assessment_targets_due ON assessment_targets (next_assessment_at);

CREATE TABLE assessments (
    id              uuid        PRIMARY KEY,
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    recorded_at     timestamptz NOT NULL DEFAULT now(),
    outcome         text        NOT NULL CHECK (outcome IN ('complete', 'partial', 'unreachable')),
    -- json, not jsonb: the exact text, and U+0000 in a string does not lose the row.
    facts           json        NOT NULL
);
CREATE INDEX assessments_latest ON assessments (organization_id, instance_id, recorded_at DESC);
CREATE INDEX assessments_age ON assessments (recorded_at);

CREATE TABLE assessment_classifications (
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    database_name   text        NOT NULL,
    recorded_at     timestamptz NOT NULL DEFAULT now(),
    status          text        NOT NULL CHECK (status IN ('completed', 'partial', 'failed', 'off')),
    facts           json        NOT NULL,
    PRIMARY KEY (organization_id, instance_id, database_name)
);

-- +goose Down
DROP TABLE assessment_classifications;
DROP TABLE assessments;
DROP TABLE assessment_targets;
