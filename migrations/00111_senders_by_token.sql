-- Owner: internal/intake/senders (known_senders) and internal/measurements/pgstore (statement_turns).
-- Which senders a token has, to bound how many, and by which token a sender holds statements.
-- Step: expand
-- A program from before bounds nobody, and holds statements without a token: such a turn belongs
-- to the sender by any token.
-- +goose Up
CREATE TABLE known_senders (
    organization_id uuid        NOT NULL,
    token_id        uuid        NOT NULL,
    sender          text        NOT NULL, -- X-Muster-Sender
    heard_at        timestamptz NOT NULL, -- to some minutes
    PRIMARY KEY (organization_id, token_id, sender)
) WITH (fillfactor = 70);
CREATE TRIGGER not_for_deleted_organizations BEFORE INSERT ON known_senders FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

ALTER TABLE statement_turns ADD COLUMN token_id uuid; -- that the sender calls with; null: from before

-- +goose Down
ALTER TABLE statement_turns DROP COLUMN token_id;
DROP TABLE known_senders;
