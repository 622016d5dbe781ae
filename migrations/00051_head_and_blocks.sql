-- Owner: internal/measurements/pgstore. What is being written (the head) apart from what
-- is over (blocks), so that a sample does not rewrite what is kept.
-- +goose Up

-- Rows of blocks: written when their hour is over. All of one shape.
ALTER TABLE rolled_minutes RENAME TO block_minutes;
ALTER TABLE rolled_hours RENAME TO block_hours;
ALTER TABLE rolled_days RENAME TO block_days;
ALTER TABLE block_minutes RENAME COLUMN slots TO body;
ALTER TABLE block_hours RENAME COLUMN slots TO body;
ALTER TABLE block_days RENAME COLUMN slots TO body;
ALTER INDEX rolled_minutes_pkey RENAME TO block_minutes_pkey;
ALTER INDEX rolled_hours_pkey RENAME TO block_hours_pkey;
ALTER INDEX rolled_days_pkey RENAME TO block_days_pkey;
ALTER INDEX rolled_minutes_start RENAME TO block_minutes_start;
ALTER INDEX rolled_hours_start RENAME TO block_hours_start;
CREATE TABLE block_raw (
    series_id bigint      NOT NULL,
    start     timestamptz NOT NULL, -- of ten minutes
    body      bytea       NOT NULL,
    PRIMARY KEY (series_id, start)
);
ALTER TABLE block_raw ALTER COLUMN body SET STORAGE EXTERNAL; -- compressed already
CREATE INDEX block_raw_start ON block_raw (start);
CREATE TABLE block_hour_details (LIKE block_raw INCLUDING ALL);
CREATE TABLE block_day_details (LIKE block_raw INCLUDING ALL);
CREATE TABLE block_closed_hour_details (LIKE block_raw INCLUDING ALL);
CREATE TABLE block_closed_day_details (LIKE block_raw INCLUDING ALL);
INSERT INTO block_hour_details SELECT series_id, start, body FROM rolled_details WHERE size = '1h' AND NOT closed;
INSERT INTO block_day_details SELECT series_id, start, body FROM rolled_details WHERE size = '1d' AND NOT closed;
INSERT INTO block_closed_hour_details SELECT series_id, start, body FROM rolled_details WHERE size = '1h' AND closed;
INSERT INTO block_closed_day_details SELECT series_id, start, body FROM rolled_details WHERE size = '1d' AND closed;

-- The weeks whose details are not closed.
CREATE TABLE open_weeks (
    series_id bigint      NOT NULL,
    week      timestamptz NOT NULL,
    PRIMARY KEY (series_id, week)
);
INSERT INTO open_weeks
SELECT DISTINCT series_id, date_trunc('week', start, 'UTC') FROM rolled_details WHERE NOT closed;
CREATE INDEX open_weeks_week ON open_weeks (week);
DROP TABLE rolled_details;

-- The head: what open hours come to. It can be made anew from raw_samples and blocks, so
-- it is not written ahead; after a crash PostgreSQL empties it, head_state among it, which
-- is how that is noticed (head.go).
CREATE UNLOGGED TABLE head_minutes (
    series_id bigint      NOT NULL,
    start     timestamptz NOT NULL,
    body      bytea       NOT NULL,
    PRIMARY KEY (series_id, start)
) WITH (fillfactor = 50, toast_tuple_target = 8160);
CREATE UNLOGGED TABLE head_hours (LIKE head_minutes INCLUDING ALL) WITH (fillfactor = 50, toast_tuple_target = 8160);
CREATE UNLOGGED TABLE head_days (LIKE head_minutes INCLUDING ALL) WITH (fillfactor = 50, toast_tuple_target = 8160);
CREATE UNLOGGED TABLE head_hour_details (LIKE head_minutes INCLUDING ALL);
CREATE UNLOGGED TABLE head_day_details (LIKE head_minutes INCLUDING ALL);
ALTER TABLE head_hour_details ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE head_day_details ALTER COLUMN body SET STORAGE EXTERNAL;
-- What those details of a day, or of a week, come to that are not in the head.
CREATE UNLOGGED TABLE head_rests (
    series_id bigint      NOT NULL,
    size      text        NOT NULL, -- of the parts: 1h, 1d
    start     timestamptz NOT NULL,
    body      bytea       NOT NULL,
    PRIMARY KEY (series_id, size, start)
);
ALTER TABLE head_rests ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE UNLOGGED TABLE head_state (
    one   boolean PRIMARY KEY DEFAULT true CHECK (one),
    ready boolean NOT NULL -- what was lost has been made anew
);
INSERT INTO head_state (ready) VALUES (true);

-- compacted: nothing of the hour is in the head but, where it is not packed, raw samples.
ALTER TABLE measured_hours
    ADD COLUMN compacted boolean NOT NULL DEFAULT false,
    ADD COLUMN packed boolean NOT NULL DEFAULT false; -- some raw samples are in blocks
CREATE INDEX measured_hours_open ON measured_hours (hour, series_id) WHERE NOT compacted;
ALTER TABLE dirty_hours ADD COLUMN recovered boolean NOT NULL DEFAULT false; -- lost with the head
ALTER TABLE dirty_hours SET UNLOGGED; -- whatever was marked is not compacted

-- +goose Down
-- What the head has is kept. Raw samples in blocks are lost: their hours are sealed.
INSERT INTO block_minutes SELECT * FROM head_minutes ON CONFLICT (series_id, start) DO UPDATE SET body = excluded.body;
INSERT INTO block_hours SELECT * FROM head_hours ON CONFLICT (series_id, start) DO UPDATE SET body = excluded.body;
INSERT INTO block_days SELECT * FROM head_days ON CONFLICT (series_id, start) DO UPDATE SET body = excluded.body;
INSERT INTO block_hour_details SELECT * FROM head_hour_details ON CONFLICT (series_id, start) DO UPDATE SET body = excluded.body;
INSERT INTO block_day_details SELECT * FROM head_day_details ON CONFLICT (series_id, start) DO UPDATE SET body = excluded.body;
INSERT INTO sealed_hours AS s (series_id, week, hours)
SELECT series_id, date_trunc('week', hour, 'UTC'),
       bit_or(set_bit(repeat('0', 168)::bit(168), (extract(epoch FROM hour - date_trunc('week', hour, 'UTC')) / 3600)::integer, 1))
FROM measured_hours WHERE packed
GROUP BY 1, 2
ON CONFLICT (series_id, week) DO UPDATE SET hours = s.hours | excluded.hours;
DELETE FROM dirty_hours d USING measured_hours h WHERE h.packed AND h.series_id = d.series_id AND h.hour = d.hour;
DELETE FROM measured_hours WHERE packed;
CREATE TABLE rolled_details (
    series_id bigint      NOT NULL,
    size      text        NOT NULL,
    start     timestamptz NOT NULL,
    body      bytea       NOT NULL,
    closed    boolean     NOT NULL DEFAULT false,
    PRIMARY KEY (series_id, size, start, closed)
);
ALTER TABLE rolled_details ALTER COLUMN body SET STORAGE EXTERNAL;
INSERT INTO rolled_details
SELECT series_id, '1h', start, body, false FROM block_hour_details
UNION ALL SELECT series_id, '1d', start, body, false FROM block_day_details
UNION ALL SELECT series_id, '1h', start, body, true FROM block_closed_hour_details
UNION ALL SELECT series_id, '1d', start, body, true FROM block_closed_day_details;
CREATE INDEX rolled_details_open ON rolled_details (start) WHERE size = '1h' AND NOT closed;
CREATE INDEX rolled_details_closed ON rolled_details (size, start) WHERE closed;
DROP TABLE block_raw, block_hour_details, block_day_details, block_closed_hour_details, block_closed_day_details, open_weeks,
    head_minutes, head_hours, head_days, head_hour_details, head_day_details, head_rests, head_state;
ALTER TABLE measured_hours DROP COLUMN compacted, DROP COLUMN packed;
ALTER TABLE dirty_hours DROP COLUMN recovered;
ALTER TABLE dirty_hours SET LOGGED;
ALTER TABLE block_minutes RENAME COLUMN body TO slots;
ALTER TABLE block_hours RENAME COLUMN body TO slots;
ALTER TABLE block_days RENAME COLUMN body TO slots;
ALTER INDEX block_minutes_pkey RENAME TO rolled_minutes_pkey;
ALTER INDEX block_hours_pkey RENAME TO rolled_hours_pkey;
ALTER INDEX block_days_pkey RENAME TO rolled_days_pkey;
ALTER INDEX block_minutes_start RENAME TO rolled_minutes_start;
ALTER INDEX block_hours_start RENAME TO rolled_hours_start;
ALTER TABLE block_minutes RENAME TO rolled_minutes;
ALTER TABLE block_hours RENAME TO rolled_hours;
ALTER TABLE block_days RENAME TO rolled_days;
