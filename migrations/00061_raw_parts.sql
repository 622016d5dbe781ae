-- Owner: internal/measurements/pgstore. Raw samples of the last hours in parts that are
-- emptied as a whole when all in them is in blocks: a DELETE of each row, the VACUUM behind
-- it and an index that is written to all over took two thirds of what raw samples wrote
-- ahead.
-- Step: expand
-- A program from before names no part, and finds all of them.
-- +goose Up

-- Samples that come late stay in the table that there was. Nothing of it is rewritten; it
-- is read once, to see that all its rows belong there.
ALTER TABLE raw_samples RENAME TO raw_samples_rest;
ALTER INDEX raw_samples_pkey RENAME TO raw_samples_rest_pkey;
ALTER TABLE raw_samples_rest ADD COLUMN part smallint NOT NULL DEFAULT -1;

-- part: of what arrives in time, which half hour it is, of those of four hours; else -1.
-- A binary from before names no part. That there is one row a series and time is seen to
-- under the lock of the series.
CREATE TABLE raw_samples (LIKE raw_samples_rest INCLUDING DEFAULTS INCLUDING STORAGE) PARTITION BY LIST (part);
ALTER TABLE raw_samples ATTACH PARTITION raw_samples_rest FOR VALUES IN (-1);
-- Without statistics the planner looks into the keys; what is emptied in hours wants no VACUUM.
CREATE TABLE raw_samples_0 PARTITION OF raw_samples (PRIMARY KEY (series_id, at)) FOR VALUES IN (0) WITH (autovacuum_enabled = false);
CREATE TABLE raw_samples_1 PARTITION OF raw_samples (PRIMARY KEY (series_id, at)) FOR VALUES IN (1) WITH (autovacuum_enabled = false);
CREATE TABLE raw_samples_2 PARTITION OF raw_samples (PRIMARY KEY (series_id, at)) FOR VALUES IN (2) WITH (autovacuum_enabled = false);
CREATE TABLE raw_samples_3 PARTITION OF raw_samples (PRIMARY KEY (series_id, at)) FOR VALUES IN (3) WITH (autovacuum_enabled = false);
CREATE TABLE raw_samples_4 PARTITION OF raw_samples (PRIMARY KEY (series_id, at)) FOR VALUES IN (4) WITH (autovacuum_enabled = false);
CREATE TABLE raw_samples_5 PARTITION OF raw_samples (PRIMARY KEY (series_id, at)) FOR VALUES IN (5) WITH (autovacuum_enabled = false);
CREATE TABLE raw_samples_6 PARTITION OF raw_samples (PRIMARY KEY (series_id, at)) FOR VALUES IN (6) WITH (autovacuum_enabled = false);
CREATE TABLE raw_samples_7 PARTITION OF raw_samples (PRIMARY KEY (series_id, at)) FOR VALUES IN (7) WITH (autovacuum_enabled = false);

-- +goose Down
-- Samples that are in blocks too are no harm: they say the same, and go with their hour.
INSERT INTO raw_samples_rest (series_id, at, body) SELECT series_id, at, body FROM raw_samples WHERE part >= 0;
ALTER TABLE raw_samples DETACH PARTITION raw_samples_rest;
DROP TABLE raw_samples;
ALTER TABLE raw_samples_rest DROP COLUMN part;
ALTER TABLE raw_samples_rest RENAME TO raw_samples;
ALTER INDEX raw_samples_rest_pkey RENAME TO raw_samples_pkey;
