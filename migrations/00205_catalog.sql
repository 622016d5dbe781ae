-- Owner: internal/accounts. Whether the catalog of reports shows summaries as previews only.
-- Step: expand
-- A program from before knows no setting, and shows the previews.
-- +goose Up
ALTER TABLE organizations ADD COLUMN catalog text NOT NULL DEFAULT 'all'
    CONSTRAINT organizations_catalog_check CHECK (catalog IN ('all', 'specification'));

-- +goose Down
ALTER TABLE organizations DROP COLUMN catalog;
