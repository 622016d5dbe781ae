-- Owned by internal/assessment/feed/kept. The updates of the release and CVE feed: each
-- version has all of them, the highest is current, and none is ever changed.
-- +goose Up
CREATE TABLE feed_versions (
    version     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    digest      text        NOT NULL, -- SHA-256 of records
    records     bytea       NOT NULL, -- in canonical form
    feed_digest text        NOT NULL, -- of the feed that they make with the tables of the program that wrote them
    file_digest text        NOT NULL, -- of the file that they came in
    signed_by   text        NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now()
);

-- +goose Down
DROP TABLE feed_versions;
