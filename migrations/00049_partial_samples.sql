-- Owned by internal/measurements/pgstore. Which samples are of a part only: of those who
-- send the first statements or sessions of a list that they cut.
-- +goose Up
ALTER TABLE measured_series
    ADD COLUMN partial_from timestamptz, -- the first and the last time of such a sample;
    ADD COLUMN partial_to timestamptz;   -- null: there is none
ALTER TABLE latest_sessions ADD COLUMN partial boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE latest_sessions DROP COLUMN partial;
ALTER TABLE measured_series DROP COLUMN partial_from, DROP COLUMN partial_to;
