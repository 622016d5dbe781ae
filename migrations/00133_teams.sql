-- Owner: internal/accounts. Teams, and the role of people who see the servers of their teams only. Teams are in the order in which they were created. Selector and members are in terms, as in the events.
-- Step: expand
-- A program from before knows no teams. Nobody is given the role team until all programs know it: one from before
-- has no scope for it and refuses whatever its holder asks.
-- +goose Up
CREATE TABLE teams (
    id              uuid        NOT NULL PRIMARY KEY,
    organization_id uuid        NOT NULL REFERENCES organizations (id),
    name            text        NOT NULL,
    terms           jsonb       NOT NULL,
    created_at      timestamptz NOT NULL,
    removed_at      timestamptz
);
CREATE UNIQUE INDEX teams_named ON teams (organization_id, lower(name)) WHERE removed_at IS NULL;
CREATE TRIGGER not_for_deleted_organizations BEFORE INSERT ON teams FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();
ALTER TABLE members DROP CONSTRAINT members_role_check,
    ADD CONSTRAINT members_role_check CHECK (role IN ('viewer', 'member', 'auditor', 'admin', 'team'));

-- +goose Down
UPDATE members SET role = 'viewer', status = 'disabled' WHERE role = 'team';
ALTER TABLE members DROP CONSTRAINT members_role_check,
    ADD CONSTRAINT members_role_check CHECK (role IN ('viewer', 'member', 'auditor', 'admin'));
DROP TABLE teams;
