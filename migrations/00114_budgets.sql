-- Owner: internal/intake/budgets. What senders used of the budgets of their organizations, and how many
-- alerts are open.
-- Step: expand
-- A program from before counts nothing: what it takes in costs no budget, and the alerts that it
-- opens and closes are counted when a newer program next counts all (budgets.Book.Recount).
-- +goose Up
CREATE TABLE budget_use (
    organization_id uuid   NOT NULL,
    day             date   NOT NULL, -- in UTC
    token_id        uuid   NOT NULL,
    bytes           bigint NOT NULL, -- of bodies, unpacked
    events          bigint NOT NULL,
    PRIMARY KEY (organization_id, day, token_id)
) WITH (fillfactor = 70);
CREATE INDEX budget_use_day ON budget_use (day);
CREATE TRIGGER not_for_deleted_organizations BEFORE INSERT ON budget_use
    FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

CREATE TABLE open_alerts (
    organization_id uuid        NOT NULL,
    token_id        uuid        NOT NULL, -- that raised them; the nil UUID: all of the organization
    open            bigint      NOT NULL,
    counted_at      timestamptz NOT NULL DEFAULT '-infinity', -- when all were last counted; of the organization's row
    PRIMARY KEY (organization_id, token_id)
) WITH (fillfactor = 50);
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON open_alerts
    FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE open_alerts;
DROP TABLE budget_use;
