-- Owner: internal/assessment/findings (the columns) and commands (the table). Who is to close a finding, and that one
-- came back.
-- Step: expand
-- A program from before neither reads nor writes any of it: a finding that comes back while it records says nothing
-- of that.
-- +goose Up
-- Of a finding that came back: since when it was open before that, and when it had gone. Null: it never had.
ALTER TABLE findings ADD COLUMN earlier_first_seen_at timestamptz, ADD COLUMN earlier_gone_at timestamptz;

-- It outlives the row of the finding: findings are made anew from assessments.
CREATE TABLE finding_assignments (
    finding_id      uuid NOT NULL PRIMARY KEY,
    organization_id uuid NOT NULL,
    instance_id     uuid NOT NULL,
    assignee_id     uuid,                    -- null: nobody
    ticket_url      text NOT NULL DEFAULT '' -- people wrote it: it stands in no event
);
CREATE INDEX finding_assignments_of_instance ON finding_assignments (organization_id, instance_id);
CREATE INDEX finding_assignments_of_assignee ON finding_assignments (organization_id, assignee_id) WHERE assignee_id IS NOT NULL;
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON finding_assignments FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE finding_assignments;
ALTER TABLE findings DROP COLUMN earlier_first_seen_at, DROP COLUMN earlier_gone_at;
