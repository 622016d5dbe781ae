-- Owner: internal/secrets. What own marks are held against: the mark keys of retired secret
-- keys, and up to where events are from before marks. Each row is sealed under the secret key.
-- Step: expand
-- A program from before writes events without a mark, and rotates and retires keys without
-- these rows.
-- +goose Up
CREATE TABLE marks (
    name   text  PRIMARY KEY, -- begun, or: retired FINGERPRINT
    sealed bytea NOT NULL
);

-- +goose Down
DROP TABLE marks;
