-- Owner: internal/report/brief. What page 1 of a report says first, for mails and messages, while the report is offered.
-- Step: expand
-- A program from before writes none, and deletes none: the brief of a report that it lets expire stays until the
-- organization is deleted. Its mails have the figures of report.ready alone.
-- +goose Up
CREATE TABLE report_briefs (
    report_id       uuid  NOT NULL PRIMARY KEY,
    organization_id uuid  NOT NULL,
    brief           jsonb NOT NULL
);
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON report_briefs
    FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE report_briefs;
