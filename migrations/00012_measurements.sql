-- Owner: internal/measurements/pgstore. What was measured, and what the tiles are
-- read from.
-- +goose Up

-- A series: a host's, or the sessions or the statements of an instance. Whoever
-- writes samples of it, rolls them up or seals an hour of it holds its row.
CREATE TABLE measured_series (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organization_id uuid   NOT NULL,
    kind            text   NOT NULL, -- host, sessions, statements
    subject         text   COLLATE "C" NOT NULL, -- the host's name, or the instance's id
    engine          text   NOT NULL, -- of the instance; empty for a host
    instances       uuid[] NOT NULL DEFAULT '{}', -- what runs on a host, as its newest sample names it
    mapped_at       timestamptz,     -- the time of that sample
    UNIQUE (organization_id, kind, subject)
) WITH (fillfactor = 70);

-- One row a series and time, in an encoding of the kind (doc.go). Deleted when its
-- hour is sealed.
CREATE TABLE raw_samples (
    series_id bigint      NOT NULL,
    at        timestamptz NOT NULL,
    body      bytea       NOT NULL,
    PRIMARY KEY (series_id, at)
);
ALTER TABLE raw_samples ALTER COLUMN body SET STORAGE EXTERNAL; -- floats do not compress

-- The hours that have raw samples, and when the last one arrived. What moves is not
-- indexed (HOT).
CREATE TABLE measured_hours (
    series_id  bigint      NOT NULL,
    hour       timestamptz NOT NULL,
    arrived_at timestamptz NOT NULL,
    PRIMARY KEY (series_id, hour)
) WITH (fillfactor = 80);
CREATE INDEX measured_hours_hour ON measured_hours (hour);

-- The hours that are to be rolled up, and which of their minutes (bit n: minute n). A
-- table of its own because it is empty when nothing is behind: to find in
-- measured_hours what is dirty would take an index that every sample writes to twice.
CREATE TABLE dirty_hours (
    series_id bigint      NOT NULL,
    hour      timestamptz NOT NULL,
    minutes   bigint      NOT NULL,
    since     timestamptz NOT NULL DEFAULT now(), -- when the first of it arrived
    failures  integer     NOT NULL DEFAULT 0,     -- how often it could not be rolled up
    due       timestamptz NOT NULL DEFAULT now(), -- not before
    PRIMARY KEY (series_id, hour)
) WITH (fillfactor = 80);
CREATE INDEX dirty_hours_hour ON dirty_hours (hour);

-- The hours of a week whose raw samples are gone (bit n: hour n).
CREATE TABLE sealed_hours (
    series_id bigint      NOT NULL,
    week      timestamptz NOT NULL,
    hours     bit(168)    NOT NULL,
    PRIMARY KEY (series_id, week)
);

-- Rollups: a row holds the 60 minutes of an hour, the 24 hours of a day, the 7 days of
-- a week and behind them the week. Behind the hours, and behind the week, there may be
-- a rest: what the bucket holds besides the shorter ones that are still known.
CREATE TABLE rolled_minutes (
    series_id bigint      NOT NULL,
    start     timestamptz NOT NULL,
    slots     bytea       NOT NULL,
    PRIMARY KEY (series_id, start)
) WITH (fillfactor = 70, toast_tuple_target = 8160);
CREATE TABLE rolled_hours (LIKE rolled_minutes INCLUDING ALL) WITH (fillfactor = 70, toast_tuple_target = 8160);
CREATE TABLE rolled_days (LIKE rolled_minutes INCLUDING ALL) WITH (fillfactor = 70, toast_tuple_target = 8160);
CREATE INDEX rolled_minutes_start ON rolled_minutes (start);
CREATE INDEX rolled_hours_start ON rolled_hours (start);

-- The statements of an hour and of a day, one by one: a longer bucket's maximum
-- cannot be made of shorter ones' (readings, 15). Kept until their week is over and
-- nothing of it has arrived for 72 hours.
CREATE TABLE rolled_statements (
    series_id bigint      NOT NULL,
    size      text        NOT NULL, -- 1h, 1d
    start     timestamptz NOT NULL,
    body      bytea       NOT NULL,
    PRIMARY KEY (series_id, size, start)
);
ALTER TABLE rolled_statements ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX rolled_statements_days ON rolled_statements (start) WHERE size = '1d';

-- The latest sample of each database's sessions. Rewritten with every sample, and
-- never indexed by what moves (HOT).
CREATE TABLE latest_sessions (
    series_id           bigint      NOT NULL,
    database_id         uuid        NOT NULL,
    at                  timestamptz NOT NULL,
    until               timestamptz NOT NULL, -- after it, it does not count any more
    active              bigint      NOT NULL,
    idle                bigint      NOT NULL,
    waiting             bigint      NOT NULL,
    idle_in_transaction bigint      NOT NULL,
    other               bigint      NOT NULL,
    PRIMARY KEY (series_id, database_id)
) WITH (fillfactor = 50);

-- +goose Down
DROP TABLE latest_sessions, rolled_statements, rolled_days, rolled_hours, rolled_minutes, sealed_hours,
    dirty_hours, measured_hours, raw_samples, measured_series;
