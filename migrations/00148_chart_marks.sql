-- Owner: commands/marks. Marks that people and programs set on the time axis of charts: what happened when, and at the
-- servers with which tags. The log has their times and tags, and not their text.
-- Step: expand
-- A program from before neither reads nor writes them, and sets aside the streams of their events.
-- +goose Up
CREATE TABLE chart_marks (
    id              uuid        NOT NULL PRIMARY KEY,
    organization_id uuid        NOT NULL,
    at              timestamptz NOT NULL,
    text            text        NOT NULL, -- empty: it was removed
    tags            jsonb       NOT NULL, -- by key; without any: the whole organization
    member_id       uuid,                 -- null: Muster itself
    token_id        uuid,                 -- of the API token that it was set with
    created_at      timestamptz NOT NULL,
    removed_at      timestamptz
);
CREATE INDEX chart_marks_at ON chart_marks (organization_id, at) WHERE removed_at IS NULL;
-- How many were set within a day, removed ones too.
CREATE INDEX chart_marks_created ON chart_marks (organization_id, created_at);
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON chart_marks FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE chart_marks;
