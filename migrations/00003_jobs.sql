-- Owner: handlers/jobs. One row is one piece of work that is not finished.
-- +goose Up

-- Fences are unique over all jobs and all time: a file whose name holds one is
-- never written twice.
CREATE SEQUENCE job_fence;

CREATE TABLE jobs (
    id              uuid        PRIMARY KEY,
    organization_id uuid        NOT NULL,
    kind            text        NOT NULL,
    subject         uuid        NOT NULL,
    key             text        NOT NULL DEFAULT '',
    payload         bytea       NOT NULL DEFAULT '',
    metadata        jsonb       NOT NULL DEFAULT '{}',
    -- When the job may be claimed: the time it is to run, or, while a worker
    -- holds it, the end of that lease. One column, so that one index answers
    -- both; always the database's clock.
    due_at          timestamptz NOT NULL DEFAULT now(),
    queued_at       timestamptz NOT NULL DEFAULT now(),
    attempts        integer     NOT NULL DEFAULT 0,
    worker_id       text        NOT NULL DEFAULT '',
    fence           bigint      NOT NULL DEFAULT nextval('job_fence'),
    dead_at         timestamptz,
    last_error      text        NOT NULL DEFAULT '',
    step            integer     NOT NULL DEFAULT 0,
    total_steps     integer     NOT NULL DEFAULT 0,
    label           text        NOT NULL DEFAULT '',
    CONSTRAINT jobs_once UNIQUE (subject, kind, key)
);

CREATE INDEX jobs_claim ON jobs (kind, due_at, id) WHERE dead_at IS NULL;
CREATE INDEX jobs_by_organization ON jobs (organization_id, kind, id);
CREATE INDEX jobs_dead ON jobs (dead_at, id) WHERE dead_at IS NOT NULL;

-- +goose Down
DROP TABLE jobs;
DROP SEQUENCE job_fence;
