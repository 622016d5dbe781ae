-- Owner: internal/measurements/pgstore. The series whose hours that are over cannot be put
-- into blocks, because a part of those is away: what is measured of them stays in the head,
-- for a day at most (away.go). Empty but on such a day.
-- Step: expand
-- A program from before does not read it.
-- +goose Up
CREATE TABLE series_away (
    series_id bigint      NOT NULL PRIMARY KEY,
    since     timestamptz NOT NULL DEFAULT now()
);

-- +goose Down
DROP TABLE series_away;
