-- Owned by internal/measurements/clickhouse. The last revision that was given to blocks in
-- ClickHouse: one row. It is of the ledger, because all processes share that.
-- +goose Up
CREATE TABLE block_revisions (
    one  boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (one),
    last bigint  NOT NULL DEFAULT 0 -- microseconds since 1970, or one more than the one before
) WITH (fillfactor = 10); -- what moves is not indexed (HOT)
INSERT INTO block_revisions DEFAULT VALUES;

-- +goose Down
DROP TABLE block_revisions;
