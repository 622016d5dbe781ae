-- Owner: internal/concurrency/supervise/falls. The background loops of all processes that fell.
-- Step: expand
-- A program from before neither reads nor writes it: its panics end it.
-- +goose Up
CREATE TABLE loop_falls (
    process    text        NOT NULL,
    loop       text        NOT NULL,
    falls      bigint      NOT NULL, -- since the process began
    last_at    timestamptz NOT NULL,
    in_trouble boolean     NOT NULL, -- it has not run for a minute since
    seen_at    timestamptz NOT NULL, -- when the process last said so
    PRIMARY KEY (process, loop)
) WITH (fillfactor = 50);

-- +goose Down
DROP TABLE loop_falls;
