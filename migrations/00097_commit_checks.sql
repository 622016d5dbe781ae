-- Owner: internal/postgres. The row that each process writes to see whether commits return.
-- Step: expand
-- A program from before neither reads nor writes it.
-- +goose Up
-- A row is written again and again: half of the page is left for its next versions.
CREATE TABLE commit_checks (
    process    text        PRIMARY KEY,
    checked_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- +goose Down
DROP TABLE commit_checks;
