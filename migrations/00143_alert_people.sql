-- Owner: commands/alerting/people. Whose sessions alerts about a wait for a lock speak of. The log never has them; it has
-- their digest, under a salt that is erased with them.
-- Step: expand
-- A program from before neither reads nor writes it.
-- +goose Up
CREATE TABLE alert_people (
    organization_id uuid        NOT NULL,
    alert_id        uuid        NOT NULL,
    kept_at         timestamptz NOT NULL,              -- erased the organization's inputs_retention_days later
    salt            bytea       NOT NULL,
    people          jsonb       NOT NULL,              -- of the tree in the event that raised the alert ([]alert.Person)
    later           jsonb       NOT NULL DEFAULT '[]', -- whom its title has named since
    PRIMARY KEY (organization_id, alert_id)
);
CREATE INDEX alert_people_kept ON alert_people (kept_at);

CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON alert_people FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE alert_people;
