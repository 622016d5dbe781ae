-- Owner: commands; internal/notify owns notification_fed. What is known of an open alert beside
-- its log: its texts as they are now, and who says that it fires. And with which labels an
-- Alertmanager was told of an alert.
-- Step: expand
-- A program from before reads and writes alert_last_seen by the columns that it knows. It feeds
-- Alertmanagers with labels that change, until it is stopped; these alerts end there by
-- themselves within five minutes.
-- +goose Up

ALTER TABLE alert_last_seen
    ADD COLUMN title       text,  -- null: as the log says
    ADD COLUMN description text,
    ADD COLUMN senders     jsonb; -- null: not known; domain/alert, Sender

-- What is stable of an alert where its title is not: the rule's name, else the first title.
ALTER TABLE notification_alerts
    ADD COLUMN label  text NOT NULL DEFAULT '',
    ADD COLUMN others text NOT NULL DEFAULT ''; -- ids of further servers that it concerns

-- The labels with which a channel was last told that an alert fires. Others end what had these.
CREATE TABLE notification_fed (
    channel_id      uuid        NOT NULL,
    alert_id        uuid        NOT NULL,
    organization_id uuid        NOT NULL,
    labels          jsonb       NOT NULL,
    fed_at          timestamptz NOT NULL,
    PRIMARY KEY (channel_id, alert_id)
);
CREATE INDEX notification_fed_of_organization ON notification_fed (organization_id);
CREATE TRIGGER not_for_deleted_organizations BEFORE INSERT ON notification_fed FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- What a program from before has told.
INSERT INTO notification_fed (channel_id, alert_id, organization_id, labels, fed_at)
SELECT c.id, a.alert_id, a.organization_id,
       jsonb_strip_nulls(jsonb_build_object('alertname', a.title, 'severity', a.severity, 'organization', o.name,
           'muster_alert_id', a.alert_id::text, 'instance', nullif(i.name, ''))), now()
FROM notification_channels c
JOIN notification_alerts a USING (organization_id)
JOIN organizations o ON o.id = c.organization_id
LEFT JOIN notification_instances i ON i.instance_id = a.instance_id
WHERE c.kind = 'alertmanager' AND c.removed_at IS NULL;

-- +goose Down
DROP TABLE notification_fed;
ALTER TABLE notification_alerts DROP COLUMN label, DROP COLUMN others;
ALTER TABLE alert_last_seen DROP COLUMN title, DROP COLUMN description, DROP COLUMN senders;
