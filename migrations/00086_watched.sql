-- Owner: internal/measurements/pgstore. Since when statements are watched, which of them
-- ran before, and which are Muster's own.
-- Step: expand
-- A program from before writes neither: a series that it makes has no watched_from until
-- a newer program takes a sample of it.
-- +goose Up

-- When the first interval of the series' statements began; null: no sample came yet. Of a
-- series from before this was noted it is 1970, as it is not known.
ALTER TABLE measured_series ADD COLUMN watched_from timestamptz DEFAULT '1970-01-01T00:00:00Z';
ALTER TABLE measured_series ALTER COLUMN watched_from DROP DEFAULT;

ALTER TABLE measured_statements
    ADD COLUMN ran_before boolean NOT NULL DEFAULT false, -- its server counted executions before the first sample
    ADD COLUMN own boolean NOT NULL DEFAULT false;        -- the sender executed it itself, to watch
CREATE INDEX measured_statements_own ON measured_statements (series_id) WHERE own;

-- +goose Down
DROP INDEX measured_statements_own;
ALTER TABLE measured_statements DROP COLUMN own, DROP COLUMN ran_before;
ALTER TABLE measured_series DROP COLUMN watched_from;
