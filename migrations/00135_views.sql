-- Owner: internal/accounts. Pages that members keep under a name, with their filters.
-- Step: expand
-- A program from before neither reads nor writes them. Where it erases a member, their views stay, and only they name
-- the author, whose row is empty.
-- +goose Up
CREATE TABLE views (
    id              uuid        NOT NULL PRIMARY KEY,
    organization_id uuid        NOT NULL,
    member_id       uuid        REFERENCES members (id) ON DELETE CASCADE, -- null: a shared one whose author was erased
    name            text        NOT NULL,
    query           text        NOT NULL, -- the address of a page, with its search
    shared          boolean     NOT NULL,
    created_at      timestamptz NOT NULL,
    CONSTRAINT views_name_of_member UNIQUE (member_id, name),
    CONSTRAINT views_are_somebodys CHECK (shared OR member_id IS NOT NULL)
);
CREATE INDEX views_shared ON views (organization_id) WHERE shared;
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON views FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE views;
