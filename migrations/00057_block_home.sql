-- Owner: internal/measurements/pgstore. Where the blocks of this installation are: one row.
-- +goose Up
CREATE TABLE block_home (
    one   boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (one),
    place text    NOT NULL DEFAULT '' -- empty: here; else cluster/database of ClickHouse
);
INSERT INTO block_home DEFAULT VALUES;

-- Where they are, and stay until the transaction ends: who moves them holds the lock alone.
-- The row is read by a statement of its own, which sees what was committed while the lock
-- was waited for.
-- +goose StatementBegin
CREATE FUNCTION block_place() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('block_home', 0));
    RETURN (SELECT place FROM block_home);
END $$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION block_place();
DROP TABLE block_home;
