-- Owner: internal/accounts. Organizations, members and what they sign in with.
-- +goose Up

CREATE TABLE organizations (
    id                    uuid PRIMARY KEY,
    name                  text NOT NULL,
    time_zone             text NOT NULL DEFAULT 'UTC',
    report_retention_days integer NOT NULL DEFAULT 30 CHECK (report_retention_days BETWEEN 1 AND 365),
    inputs_retention_days integer NOT NULL DEFAULT 400 CHECK (inputs_retention_days BETWEEN 1 AND 3650),
    paper_size            text NOT NULL DEFAULT 'A4' CHECK (paper_size IN ('A4', 'Letter')),
    -- Thresholds of the built-in watch.
    watch_silent_minutes     integer NOT NULL DEFAULT 5 CHECK (watch_silent_minutes BETWEEN 1 AND 1440),
    watch_volume_percent     integer NOT NULL DEFAULT 90 CHECK (watch_volume_percent BETWEEN 1 AND 100),
    watch_lock_wait_minutes  integer NOT NULL DEFAULT 5 CHECK (watch_lock_wait_minutes BETWEEN 1 AND 1440),
    watch_wraparound_percent integer NOT NULL DEFAULT 80 CHECK (watch_wraparound_percent BETWEEN 1 AND 100),
    demo                  boolean NOT NULL DEFAULT false,
    created_at            timestamptz NOT NULL
);

-- One row, locked by whatever makes the first administrator: two replicas that
-- start together, or a start and a setup link, make one.
CREATE TABLE setup_gate (singleton boolean PRIMARY KEY CHECK (singleton));
INSERT INTO setup_gate VALUES (true);

-- An erased member's row stays, so that the ids in the log lead to somebody who
-- is no more rather than to nobody. It is empty, whoever writes to it late.
CREATE TABLE members (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id),
    email           text, -- lower case; null once erased, so that the address is free
    name            text NOT NULL,
    role            text NOT NULL CHECK (role IN ('viewer', 'member', 'auditor', 'admin')),
    status          text NOT NULL CHECK (status IN ('invited', 'active', 'disabled', 'erased')),
    password_hash   text, -- PHC string; null while invited
    last_sign_in_at timestamptz,
    created_at      timestamptz NOT NULL,
    CONSTRAINT members_have_an_address CHECK (email IS NOT NULL OR status = 'erased'),
    CONSTRAINT erased_members_are_empty CHECK (
        status <> 'erased' OR email IS NULL AND name = '' AND password_hash IS NULL AND last_sign_in_at IS NULL)
);
-- An address is one account in the installation, not one in every organization.
CREATE UNIQUE INDEX members_email ON members (email);
CREATE INDEX members_of_organization ON members (organization_id, lower(name), id);

CREATE TABLE sessions (
    id              uuid PRIMARY KEY,
    token_hash      bytea NOT NULL UNIQUE, -- SHA-256
    organization_id uuid NOT NULL REFERENCES organizations (id),
    member_id       uuid NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    created_at      timestamptz NOT NULL,
    last_seen_at    timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL, -- absolute
    ip              text NOT NULL,
    user_agent      text NOT NULL,
    method          text NOT NULL CHECK (method IN ('password', 'oidc')) -- how they signed in
);
CREATE INDEX sessions_of_member ON sessions (member_id);

-- API tokens act for the member that owns them; ingest tokens for the
-- organization, and member_id says who minted them.
CREATE TABLE tokens (
    id              uuid PRIMARY KEY,
    kind            text NOT NULL CHECK (kind IN ('api', 'ingest')),
    organization_id uuid NOT NULL REFERENCES organizations (id),
    member_id       uuid NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    name            text NOT NULL,
    prefix          text NOT NULL,
    token_hash      bytea NOT NULL UNIQUE, -- SHA-256
    scopes          text[] NOT NULL,
    instance_ids    uuid[], -- ingest only; null: the whole organization
    created_at      timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    revoked_at      timestamptz,
    last_used_at    timestamptz,
    last_used_ip    text
);
CREATE INDEX tokens_of_organization ON tokens (organization_id, kind, created_at, id);

CREATE TABLE invitations (
    member_id  uuid PRIMARY KEY REFERENCES members (id) ON DELETE CASCADE,
    token_hash bytea NOT NULL UNIQUE,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at    timestamptz
);

CREATE TABLE setup_links (
    token_hash      bytea PRIMARY KEY,
    organization_id uuid REFERENCES organizations (id), -- null: setting up makes one
    created_at      timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    used_at         timestamptz
);

-- Failed sign-ins by account and by address. subject is a digest, so that
-- mistyped addresses and passwords typed into the wrong field are not kept.
CREATE TABLE sign_in_failures (
    kind           text NOT NULL CHECK (kind IN ('account', 'ip')),
    subject        bytea NOT NULL,
    failures       integer NOT NULL,
    last_failed_at timestamptz NOT NULL,
    blocked_until  timestamptz NOT NULL,
    PRIMARY KEY (kind, subject)
);

-- The networks (digests) that a member signed in from lately: there, failures of
-- others elsewhere under their name do not make them wait.
CREATE TABLE sign_in_addresses (
    member_id uuid NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    network   bytea NOT NULL,
    last_at   timestamptz NOT NULL,
    PRIMARY KEY (member_id, network)
);

-- Sign-ins, refusals and what operators did: append-only, joined by the audit
-- list. It holds ids of people, never addresses they typed. An IP address is
-- emptied once it is old: the only change that the trigger lets through.
CREATE TABLE security_log (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at              timestamptz NOT NULL,
    organization_id uuid, -- null where nobody could be identified
    member_id       uuid,
    type            text NOT NULL,
    ip              text NOT NULL,
    request_id      text NOT NULL,
    detail          text NOT NULL,
    component       text NOT NULL, -- of what no request did: command line
    once            bytea UNIQUE -- of what is noted once an hour: whose, what, which hour
);
-- The list, newest first: all of it, of some types, of some people.
CREATE INDEX security_log_of_organization ON security_log (organization_id, at DESC, id DESC);
CREATE INDEX security_log_by_type ON security_log (organization_id, type, at, id);
CREATE INDEX security_log_by_member ON security_log (organization_id, member_id, at, id);
CREATE INDEX security_log_addresses ON security_log (at) WHERE ip <> '';

-- +goose StatementBegin
CREATE FUNCTION security_log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        OLD.ip := '';
        IF NEW = OLD THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'security_log is append-only';
END $$;
-- +goose StatementEnd
CREATE TRIGGER security_log_keeps_its_rows BEFORE DELETE OR TRUNCATE ON security_log
    FOR EACH STATEMENT EXECUTE FUNCTION security_log_is_append_only();
CREATE TRIGGER security_log_keeps_what_they_say BEFORE UPDATE ON security_log
    FOR EACH ROW EXECUTE FUNCTION security_log_is_append_only();

-- +goose Down
DROP TABLE security_log;
DROP FUNCTION security_log_is_append_only();
DROP TABLE sign_in_addresses, sign_in_failures, setup_links, invitations, tokens, sessions, members, setup_gate, organizations;
