-- Owner: internal/measurements/pgstore. Who is behind a figure: what was measured of
-- single databases, statements and volumes, for longer than the tiles need it.
-- +goose Up

-- Of hosts too now: the peaks of an hour's volumes. closed: the week is over and sealed;
-- what its days and hours come to is in their rows, and details are only read.
ALTER TABLE rolled_statements RENAME TO rolled_details;
ALTER TABLE rolled_details ADD COLUMN closed boolean NOT NULL DEFAULT false;
ALTER TABLE rolled_details DROP CONSTRAINT rolled_statements_pkey;
ALTER TABLE rolled_details ADD PRIMARY KEY (series_id, size, start, closed);
DROP INDEX rolled_statements_days;
CREATE INDEX rolled_details_open ON rolled_details (start) WHERE size = '1h' AND NOT closed;
CREATE INDEX rolled_details_closed ON rolled_details (size, start) WHERE closed;

-- Since when they are kept; empty: since ever. What was measured before has no volumes,
-- and of its statements nobody knows the database.
CREATE TABLE details_since AS
    SELECT date_trunc('hour', now()) AS since WHERE EXISTS (SELECT FROM measured_series);

-- +goose Down
DROP TABLE details_since;
DROP INDEX rolled_details_open, rolled_details_closed;
DELETE FROM rolled_details WHERE closed OR series_id IN (SELECT id FROM measured_series WHERE kind = 'host');
ALTER TABLE rolled_details DROP CONSTRAINT rolled_details_pkey;
ALTER TABLE rolled_details DROP COLUMN closed;
ALTER TABLE rolled_details ADD CONSTRAINT rolled_statements_pkey PRIMARY KEY (series_id, size, start);
ALTER TABLE rolled_details RENAME TO rolled_statements;
CREATE INDEX rolled_statements_days ON rolled_statements (start) WHERE size = '1d';
