-- Owner: internal/accounts. Whether texts of statements are kept.
-- +goose Up

ALTER TABLE organizations ADD COLUMN statement_texts text NOT NULL DEFAULT 'off'
    CONSTRAINT organizations_statement_texts_check CHECK (statement_texts IN ('off', 'normalized'));
UPDATE organizations SET statement_texts = 'normalized' WHERE demo;

-- +goose Down

ALTER TABLE organizations DROP COLUMN statement_texts;
