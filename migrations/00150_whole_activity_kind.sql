-- Owner: internal/measurements/pgstore. Activity may have rows of whole organizations.
-- Step: contract
-- A program from before does not know the kind, and makes no row of any organization that has it. So it is registered
-- only from here on.
-- +goose Up
ALTER TABLE wholes ADD CONSTRAINT wholes_kinds CHECK (kind IN ('host', 'sessions', 'activity', 'statements'));

-- +goose Down
ALTER TABLE wholes DROP CONSTRAINT wholes_kinds;
DELETE FROM wholes WHERE kind = 'activity';
DELETE FROM whole_marks WHERE kind = 'activity';
