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
    muted_until        timestamptz,          -- when the mute ends by itself; null: it does not, or there is none
    -- What notifications need of it: what stays the same of it where its title changes (the rule's name as
    -- it was raised, else its first title), when that was recorded to happen, and where else it is.
    label              text        NOT NULL,
    raised_at          timestamptz NOT NULL,
    other_instance_ids text        NOT NULL  -- with commas between
);
-- The list from either end, and the firing windows of the history, which are read
-- from the index alone. Ascending, although lists are newest first: what is
-- appended at the right end of an index fills its pages, at the left end it leaves
-- them half empty.
CREATE INDEX alerts_latest ON alerts (organization_id, last_triggered_at, id)
    INCLUDE (first_triggered_at, resolved_at, muted, instance_id);
CREATE INDEX alerts_of_instance ON alerts (organization_id, instance_id, last_triggered_at, id)
    INCLUDE (first_triggered_at, resolved_at, muted) WHERE instance_id IS NOT NULL;
-- The counts of now and of seven days ago, the open ones as a list, what was
-- resolved when, and what alert_last_seen may know more of.
CREATE INDEX alerts_open ON alerts (organization_id, last_triggered_at, id)
    INCLUDE (created_at, first_triggered_at, muted, instance_id) WHERE resolved_at IS NULL;
CREATE INDEX alerts_open_of_instance ON alerts (organization_id, instance_id)
    INCLUDE (created_at, muted) WHERE resolved_at IS NULL AND instance_id IS NOT NULL;
CREATE INDEX alerts_resolved ON alerts (organization_id, resolved_at)
    INCLUDE (created_at, muted, instance_id) WHERE resolved_at IS NOT NULL;
-- What concerns a server although it belongs to another one.
CREATE INDEX alerts_elsewhere ON alerts USING gin (string_to_array(other_instance_ids, ',')) WHERE other_instance_ids <> '';

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
-- The same of each instance, by the month: counters by the hour would be as many as its alerts.
CREATE TABLE totals_of_instances (
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    month           timestamptz NOT NULL, -- in UTC
    severity        text        NOT NULL,
    closed          boolean     NOT NULL,
    muted           boolean     NOT NULL,
    alerts          bigint      NOT NULL,
    PRIMARY KEY (organization_id, instance_id, month, severity, closed, muted) INCLUDE (alerts)
);
