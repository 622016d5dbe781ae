-- Owner: internal/measurements/pgstore. Series of the kind server may be made.
-- Step: contract
-- A program from before does not know the kind, and cannot roll its samples up. So they are kept only from here on.
-- +goose Up
ALTER TABLE measured_series DROP CONSTRAINT measured_series_kinds;
ALTER TABLE measured_series ADD CONSTRAINT measured_series_kinds CHECK (kind IN ('host', 'sessions', 'activity', 'server', 'statements', 'busy'));

-- +goose Down
ALTER TABLE measured_series DROP CONSTRAINT measured_series_kinds;
ALTER TABLE measured_series ADD CONSTRAINT measured_series_kinds CHECK (kind IN ('host', 'sessions', 'activity', 'statements', 'busy')) NOT VALID;
