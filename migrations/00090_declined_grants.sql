-- Owner: internal/assessment. What an organization will not grant on a server, and of a
-- standby from where it gets its changes.
-- Step: expand
-- A program from before neither reads nor writes any of it, and asks for what was declined.
-- +goose Up

CREATE TABLE declined_grants (
    instance_id     uuid   NOT NULL PRIMARY KEY,
    organization_id uuid   NOT NULL,
    objects         text[] NOT NULL -- as missing grants name them
);
CREATE INDEX declined_grants_of_organization ON declined_grants (organization_id);

ALTER TABLE assessment_targets
    ADD COLUMN standby  boolean NOT NULL DEFAULT false,
    ADD COLUMN upstream text    NOT NULL DEFAULT ''; -- host:port, empty where that is not known
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON declined_grants FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
ALTER TABLE assessment_targets DROP COLUMN standby, DROP COLUMN upstream;
DROP TABLE declined_grants;
