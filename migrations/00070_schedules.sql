-- Owner: commands. Which of the reports that are being built a schedule asked for: they take
-- at most half of the places, so that requests by hand find some.
-- Step: expand
-- A program from before makes claims of requests by hand, which it is.
-- +goose Up
ALTER TABLE report_claims ADD COLUMN scheduled boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE report_claims DROP COLUMN scheduled;
