-- Owner: internal/measurements/pgstore. Whether the old blocks of an installation that moved
-- are still needed, and who copies.
-- Step: expand
-- A program from before does not read them.
-- +goose Up
ALTER TABLE block_home
    ADD COLUMN begun boolean NOT NULL DEFAULT false, -- a serve has been started that has blocks at place
    ADD COLUMN copy uuid; -- the last one that was begun: any other must not switch

-- +goose Down
ALTER TABLE block_home DROP COLUMN begun, DROP COLUMN copy;
