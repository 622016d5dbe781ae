-- Owner: internal/accounts. Which tags only administrators set, and within how many days a finding is due.
-- Step: expand
-- A program from before lets nobody but administrators set tags, and shows no due date.
-- +goose Up
ALTER TABLE organizations
    ADD COLUMN protected_tags text NOT NULL DEFAULT '', -- keys, sorted, with commas between them
    ADD COLUMN due_days_critical integer NOT NULL DEFAULT 7 CONSTRAINT organizations_due_days_critical_check CHECK (due_days_critical BETWEEN 1 AND 3650),
    ADD COLUMN due_days_high integer NOT NULL DEFAULT 30 CONSTRAINT organizations_due_days_high_check CHECK (due_days_high BETWEEN 1 AND 3650),
    ADD COLUMN due_days_medium integer NOT NULL DEFAULT 90 CONSTRAINT organizations_due_days_medium_check CHECK (due_days_medium BETWEEN 1 AND 3650),
    ADD COLUMN due_days_low integer NOT NULL DEFAULT 180 CONSTRAINT organizations_due_days_low_check CHECK (due_days_low BETWEEN 1 AND 3650);

-- +goose Down
ALTER TABLE organizations
    DROP COLUMN protected_tags, DROP COLUMN due_days_critical, DROP COLUMN due_days_high, DROP COLUMN due_days_medium, DROP COLUMN due_days_low;
