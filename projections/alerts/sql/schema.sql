CREATE TABLE alerts (
    id                 uuid        NOT NULL PRIMARY KEY,
    organization_id    uuid        NOT NULL,
    instance_id        uuid, -- the alert's own server or its database's
    database_id        uuid,
    title              text        NOT NULL,
    description        text        NOT NULL,
    severity           text        NOT NULL,
    state              text        NOT NULL,
    muted              boolean     NOT NULL,
    rule               jsonb,
    created_at         timestamptz NOT NULL,
    first_triggered_at timestamptz NOT NULL,
    last_triggered_at  timestamptz NOT NULL, -- as of the last event; public.alert_last_seen knows more of open ones
    resolved_at        timestamptz,          -- exactly where it is closed
    occurrences        integer     NOT NULL,
    muted_until        timestamptz           -- when the mute ends by itself; null: it does not, or there is none
);

-- What instances and databases are called, those that were removed too: their
-- alerts stay.
CREATE TABLE places (
    id              uuid NOT NULL PRIMARY KEY,
    organization_id uuid NOT NULL,
    name            text NOT NULL
);

-- How many alerts there are, by the hour of last_triggered_at: what a page says of
-- all pages. Counting a million rows takes 100 ms and more.
CREATE TABLE totals (
    organization_id uuid        NOT NULL,
    hour            timestamptz NOT NULL,
    severity        text        NOT NULL,
    closed          boolean     NOT NULL,
    muted           boolean     NOT NULL,
    alerts          bigint      NOT NULL,
    PRIMARY KEY (organization_id, hour, severity, closed, muted)
);
