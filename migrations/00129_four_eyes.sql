-- Owner: internal/accounts. Who may grant an exception.
-- Step: expand
-- A program from before asks nobody: while it runs, an administrator can grant there what they requested.
-- +goose Up
ALTER TABLE organizations ADD COLUMN exception_approval text NOT NULL DEFAULT 'any'
    CONSTRAINT organizations_exception_approval_check CHECK (exception_approval IN ('any', 'another'));

-- +goose Down
ALTER TABLE organizations DROP COLUMN exception_approval;
