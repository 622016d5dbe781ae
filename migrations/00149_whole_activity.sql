-- Owner: internal/measurements/pgstore. What all sessions of an organization did, so that activity without a filter
-- does not grow with the fleet.
-- Step: expand
-- A program from before neither reads nor writes any of it.
-- +goose Up

-- Rows as those of whole_rows, one for each dimension, with a line for each of its values. All of it can be made anew.
CREATE UNLOGGED TABLE whole_activity (
    organization_id uuid        NOT NULL,
    engine          text        NOT NULL,
    dimension       text        NOT NULL,
    width           text        NOT NULL, -- of the row: 1h, 1d, 1w
    start           timestamptz NOT NULL,
    lines           bytea       NOT NULL,
    PRIMARY KEY (organization_id, engine, dimension, width, start)
);
ALTER TABLE whole_activity ALTER COLUMN lines SET STORAGE EXTERNAL; -- hashes and ids, which compress badly
CREATE INDEX whole_activity_start ON whole_activity (width, start);

-- +goose Down
DROP TABLE whole_activity;
