-- Owned by eventstore/tree. Hashes of the Merkle tree over each log, in tiles of 256: what
-- can be computed from events again, kept so that a proof need not read them all. Of
-- level 0 only whole tiles are here; above it a row gains a hash for each whole one below.
-- +goose Up
CREATE TABLE log_tiles (
    log    text     NOT NULL,
    level  smallint NOT NULL,
    index  bigint   NOT NULL,
    hashes bytea    NOT NULL, -- 32 bytes each
    PRIMARY KEY (log, level, index)
);
ALTER TABLE log_tiles ALTER COLUMN hashes SET STORAGE EXTERNAL; -- hashes do not shrink

-- +goose Down
DROP TABLE log_tiles;
