-- Owner: internal/measurements/pgstore. The statements that were new in a time, for the releases on charts.
-- Step: expand
-- +goose Up
-- Nothing in it is written again, so statements that go on are still updated in place (HOT).
CREATE INDEX measured_statements_new ON measured_statements (series_id, first_seen) WHERE NOT own AND NOT ran_before;

-- +goose Down
DROP INDEX measured_statements_new;
