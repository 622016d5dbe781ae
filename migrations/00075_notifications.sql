-- Owner: commands (channels, rules, beginnings) and internal/notify (the rest). Who is told
-- of what, and what came of it.
-- Step: expand
-- A program from before neither reads nor writes any of it.
-- +goose Up

-- Where people and programs are told. A removed one stays, without its address, for what
-- was told through it.
CREATE TABLE notification_channels (
    id              uuid        NOT NULL PRIMARY KEY,
    organization_id uuid        NOT NULL,
    name            text        NOT NULL,
    kind            text        NOT NULL,
    member_ids      uuid[]      NOT NULL DEFAULT '{}', -- of e-mail
    administrators  boolean     NOT NULL DEFAULT false, -- of e-mail: all who are when it is sent
    sealed          bytea,                             -- URL and secret, of the others; null once removed
    created_at      timestamptz NOT NULL,
    created_by      uuid,                              -- null: Muster, at the beginning
    removed_at      timestamptz,
    fed_at          timestamptz NOT NULL DEFAULT '-infinity' -- of an Alertmanager: when open alerts were last sent again
);
CREATE INDEX notification_channels_of_organization ON notification_channels (organization_id) WHERE removed_at IS NULL;

CREATE TABLE notification_rules (
    id              uuid        NOT NULL PRIMARY KEY,
    organization_id uuid        NOT NULL,
    name            text        NOT NULL,
    terms           jsonb       NOT NULL, -- domain/notification, Terms
    created_at      timestamptz NOT NULL,
    created_by      uuid,
    removed_at      timestamptz
);
CREATE INDEX notification_rules_of_organization ON notification_rules (organization_id) WHERE removed_at IS NULL;

-- Organizations that got the rule of the beginning, or are too old for it.
CREATE TABLE notification_beginnings (
    organization_id uuid NOT NULL PRIMARY KEY
);
INSERT INTO notification_beginnings SELECT id FROM organizations;

-- How far each log is followed. Of what is up to told_after nobody is told: it happened
-- before there were rules. The fleet's is read from its beginning all the same, for what
-- alerts and servers there are.
CREATE TABLE notification_logs (
    log        text   NOT NULL PRIMARY KEY,
    position   bigint NOT NULL,
    told_after bigint NOT NULL
);
INSERT INTO notification_logs SELECT log, CASE log WHEN 'fleet' THEN 0 ELSE position END, position FROM log_head;

-- The servers, and the alerts that are open, as of notification_logs.position: an event
-- that says that an alert was resolved says neither its title nor where it is.
CREATE TABLE notification_instances (
    instance_id     uuid NOT NULL PRIMARY KEY,
    organization_id uuid NOT NULL,
    name            text NOT NULL,
    engine          text NOT NULL
);
CREATE TABLE notification_alerts (
    alert_id        uuid        NOT NULL PRIMARY KEY,
    organization_id uuid        NOT NULL,
    title           text        NOT NULL,
    severity        text        NOT NULL,
    instance_id     uuid,
    raised_at       timestamptz NOT NULL,
    acknowledged    boolean     NOT NULL,
    muted           boolean     NOT NULL
);
CREATE INDEX notification_alerts_of_organization ON notification_alerts (organization_id);

-- What is told at once: a group of events of one rule through one channel. Of a rule and
-- channel at most one is open to more events, beside one that waits for the end of quiet
-- hours.
CREATE TABLE deliveries (
    id              uuid        NOT NULL PRIMARY KEY,
    organization_id uuid        NOT NULL,
    rule_id         uuid        NOT NULL,
    channel_id      uuid        NOT NULL,
    quiet           boolean     NOT NULL,
    status          text        NOT NULL DEFAULT 'pending', -- pending, sent, failed, suppressed
    reason          text        NOT NULL DEFAULT '',
    created_at      timestamptz NOT NULL,
    due_at          timestamptz NOT NULL,
    closed_at       timestamptz,           -- since when nothing joins it
    status_at       timestamptz NOT NULL,
    attempts        integer     NOT NULL DEFAULT 0,
    last_code       integer     NOT NULL DEFAULT 0,
    last_error      text        NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX deliveries_open ON deliveries (rule_id, channel_id, quiet) WHERE status = 'pending' AND closed_at IS NULL;
CREATE INDEX deliveries_pending ON deliveries (rule_id, channel_id) WHERE status = 'pending';
CREATE INDEX deliveries_listing ON deliveries (organization_id, created_at DESC, id DESC);
CREATE INDEX deliveries_of_channel ON deliveries (channel_id, status_at DESC) WHERE status IN ('sent', 'failed');
CREATE INDEX deliveries_age ON deliveries (created_at);

CREATE TABLE delivery_events (
    delivery_id     uuid        NOT NULL,
    event_id        uuid        NOT NULL, -- made of the event's place in its log
    organization_id uuid        NOT NULL,
    type            text        NOT NULL,
    at              timestamptz NOT NULL,
    position        bigint      NOT NULL,
    alert_id        uuid,
    raised_at       timestamptz,          -- of the alert
    notice          jsonb       NOT NULL, -- as it is told
    dropped         text        NOT NULL DEFAULT '', -- why it is not told
    PRIMARY KEY (delivery_id, event_id)
);
CREATE INDEX delivery_events_of_alert ON delivery_events (alert_id) WHERE alert_id IS NOT NULL;

-- What became of a mail to one recipient.
CREATE TABLE delivery_mails (
    delivery_id     uuid        NOT NULL,
    member_id       uuid        NOT NULL,
    organization_id uuid        NOT NULL,
    sent_at         timestamptz NOT NULL,
    PRIMARY KEY (delivery_id, member_id)
);

-- As for every table with rows of organizations (00055). What one statement writes for
-- many organizations leaves out the deleted ones.
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON notification_channels FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON notification_rules FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON notification_beginnings FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();
CREATE TRIGGER not_for_deleted_organizations BEFORE INSERT ON notification_instances FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();
CREATE TRIGGER not_for_deleted_organizations BEFORE INSERT ON notification_alerts FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();
CREATE TRIGGER not_for_deleted_organizations BEFORE INSERT ON deliveries FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();
CREATE TRIGGER not_for_deleted_organizations BEFORE INSERT ON delivery_events FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON delivery_mails FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE delivery_mails, delivery_events, deliveries, notification_alerts, notification_instances, notification_logs,
    notification_beginnings, notification_rules, notification_channels;
