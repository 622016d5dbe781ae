-- Owner: internal/measurements/pgstore. What all series of an organization come to, so
-- that a tile without a filter does not grow with the fleet.
-- +goose Up

-- All of it can be made anew from the rows of the series and is not written ahead. After
-- a crash PostgreSQL empties these four at once: nothing has begun then, and reads take
-- the series' rows.

-- The series of an organization, a kind and an engine that have rows together. Whoever
-- makes them holds the row.
CREATE UNLOGGED TABLE wholes (
    organization_id uuid        NOT NULL,
    kind            text        NOT NULL, -- host, sessions, statements
    engine          text        NOT NULL, -- empty for hosts
    begun           boolean     NOT NULL DEFAULT false, -- whole_missing has what its rows lack
    failures        integer     NOT NULL DEFAULT 0, -- how often they could not be made
    due             timestamptz NOT NULL DEFAULT now(), -- not before
    PRIMARY KEY (organization_id, kind, engine)
);

-- What has been rolled up since. Rows are only added by those who roll up, so that none
-- waits for another, and taken by who holds the row of wholes.
CREATE UNLOGGED TABLE whole_marks (
    organization_id uuid        NOT NULL,
    kind            text        NOT NULL,
    engine          text        NOT NULL,
    hour            timestamptz NOT NULL,
    minutes         bigint      NOT NULL, -- bit n: minute n
    since           timestamptz NOT NULL, -- when the first sample of it arrived
    marked_at       timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX whole_marks_hour ON whole_marks (organization_id, kind, engine, hour);

-- The days of which there were samples before it began and which are not made yet.
CREATE UNLOGGED TABLE whole_missing (
    organization_id uuid        NOT NULL,
    kind            text        NOT NULL,
    engine          text        NOT NULL,
    day             timestamptz NOT NULL,
    PRIMARY KEY (organization_id, kind, engine, day)
);

-- Rows as those of one series: the minutes of an hour, the hours of a day, the days of a
-- week and the week.
CREATE UNLOGGED TABLE whole_rows (
    organization_id uuid        NOT NULL,
    kind            text        NOT NULL,
    engine          text        NOT NULL,
    width           text        NOT NULL, -- of the row: 1h, 1d, 1w
    start           timestamptz NOT NULL,
    slots           bytea       NOT NULL,
    hosts           bytea, -- which hosts have a sample in which slots; null: not of hosts
    PRIMARY KEY (organization_id, kind, engine, width, start)
) WITH (fillfactor = 50, toast_tuple_target = 8160);
ALTER TABLE whole_rows ALTER COLUMN hosts SET STORAGE EXTERNAL;
CREATE INDEX whole_rows_start ON whole_rows (width, start);

-- The series of an engine, without a look at those of the others.
CREATE INDEX measured_series_engine ON measured_series (organization_id, kind, engine, id);
CREATE INDEX measured_series_partial ON measured_series (organization_id, kind, engine) WHERE partial_from IS NOT NULL;

-- +goose Down
DROP INDEX measured_series_partial, measured_series_engine;
DROP TABLE whole_rows, whole_missing, whole_marks, wholes;
