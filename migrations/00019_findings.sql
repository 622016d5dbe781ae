-- Owned by internal/assessment/findings. What fails on each server now, and since when:
-- a function of its assessments, written in the transaction that records one.
-- +goose Up
CREATE TABLE findings (
    id              uuid        PRIMARY KEY, -- made from what it is about
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    check_id        text        NOT NULL,
    database_name   text        NOT NULL,    -- empty: instance-wide
    object          text        NOT NULL,
    assessed        boolean     NOT NULL,    -- false: the check could not be run
    severity        smallint    NOT NULL CHECK (severity BETWEEN 0 AND 3), -- 0 is Critical
    evidence        text        NOT NULL,
    measured        text        NOT NULL,
    threshold       text        NOT NULL,
    reason          text        NOT NULL,
    fix_database    text        NOT NULL,
    fix_statement   text        NOT NULL,
    fix_rollback    text        NOT NULL,
    first_seen_at   timestamptz NOT NULL,
    last_seen_at    timestamptz NOT NULL,
    gone_at         timestamptz,             -- null: it is there
    -- What is searched, so that a search makes no letters small for each row.
    sought          text        NOT NULL GENERATED ALWAYS AS (lower(object || E'\n' || evidence || E'\n' || database_name)) STORED
);
-- The list by severity, and how many there are, without sorting an organization.
CREATE INDEX findings_listing ON findings (organization_id, severity, id) INCLUDE (instance_id, check_id, assessed)
    WHERE gone_at IS NULL;
CREATE INDEX findings_age ON findings (organization_id, first_seen_at, id) WHERE gone_at IS NULL;
CREATE INDEX findings_instance ON findings (organization_id, instance_id) WHERE gone_at IS NULL;
-- What exceptions cover.
CREATE INDEX findings_check ON findings (organization_id, check_id, instance_id) WHERE gone_at IS NULL;
CREATE INDEX findings_gone ON findings (gone_at) WHERE gone_at IS NOT NULL;

-- False: made before there were findings; they are made from the stored assessments.
ALTER TABLE assessment_targets ADD COLUMN findings_kept boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE assessment_targets DROP COLUMN findings_kept;
DROP TABLE findings;
