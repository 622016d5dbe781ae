-- Owner: internal/measurements/pgstore. Samples of servers may have figures that are not among the first eleven.
-- Step: contract
-- A program from before refuses hours with a figure that it does not know. From here on, every program keeps such figures,
-- and a later figure needs no step.
-- +goose Up
ALTER TABLE measured_series ADD CONSTRAINT measured_series_figures CHECK (kind <> '');

-- +goose Down
ALTER TABLE measured_series DROP CONSTRAINT measured_series_figures;
