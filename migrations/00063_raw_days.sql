-- Owner: internal/measurements/pgstore. Blocks of raw samples in a table for each day, which
-- is dropped as a whole when its time has come: a DELETE of each row gives no disk back.
-- Step: expand
-- A program from before puts into the days below, which end tomorrow, and into those that newer
-- ones made. By itself for longer it finds none, and its hours stay in the head until a newer
-- one runs again.
-- +goose Up

-- What there is stays one table until all of it has to go. Nothing of it is rewritten; it is
-- read once, to see that all its rows belong there. Who puts makes the days behind it.
ALTER TABLE block_raw RENAME TO block_raw_before;
ALTER INDEX block_raw_pkey RENAME TO block_raw_before_pkey;
CREATE TABLE block_raw (
    series_id bigint      NOT NULL,
    start     timestamptz NOT NULL, -- of ten minutes
    body      bytea       NOT NULL,
    PRIMARY KEY (series_id, start)
) PARTITION BY RANGE (start);
ALTER TABLE block_raw ALTER COLUMN body SET STORAGE EXTERNAL; -- compressed already
-- Until the end of tomorrow: a binary from before makes no days.
-- +goose StatementBegin
DO $$
DECLARE
    t_last timestamptz := (SELECT max(start) FROM block_raw_before);
BEGIN
    IF t_last IS NULL THEN
        DROP TABLE block_raw_before;
    ELSE
        DROP INDEX block_raw_start; -- nobody looks for old rows any more
        EXECUTE format('ALTER TABLE block_raw ATTACH PARTITION block_raw_before FOR VALUES FROM (MINVALUE) TO (%L)',
            date_trunc('day', greatest(t_last, now()), 'UTC') + interval '48 hours');
    END IF;
END $$;
-- +goose StatementEnd

-- +goose Down
ALTER TABLE block_raw RENAME TO block_raw_days;
ALTER INDEX block_raw_pkey RENAME TO block_raw_days_pkey;
CREATE TABLE block_raw (LIKE block_raw_days INCLUDING STORAGE, PRIMARY KEY (series_id, start));
INSERT INTO block_raw SELECT * FROM block_raw_days;
CREATE INDEX block_raw_start ON block_raw (start);
DROP TABLE block_raw_days;
