-- Owner: internal/mail/sent. What was mailed about a report, byte for byte, while the report
-- is offered.
-- Step: expand
-- A program from before keeps none, and deletes none: of a report that it lets expire, or of a
-- member whom it erases, those that newer ones kept stay until the organization is deleted.
-- +goose Up
CREATE TABLE report_mails (
    organization_id uuid        NOT NULL,
    report_id       uuid        NOT NULL,
    member_id       uuid        NOT NULL,
    requester_id    uuid        NOT NULL, -- whom it may name
    sent_to         text        NOT NULL, -- the address at that time
    subject         text        NOT NULL,
    sent_at         timestamptz NOT NULL DEFAULT now(),
    message         bytea       NOT NULL,
    PRIMARY KEY (report_id, member_id)
);
CREATE INDEX report_mails_to ON report_mails (organization_id, member_id);
CREATE INDEX report_mails_by ON report_mails (organization_id, requester_id);
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON report_mails
    FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE report_mails;
