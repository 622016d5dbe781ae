-- Owner: internal/secrets. What this installation is: the fingerprints of the
-- things that every process on this database must share, such as the secret
-- key and the blob store. The first process writes them, the others compare.
-- +goose Up
CREATE TABLE installation (
    name        text        PRIMARY KEY,
    fingerprint text        NOT NULL CHECK (fingerprint <> ''),
    created_at  timestamptz NOT NULL DEFAULT now()
);

-- +goose Down
DROP TABLE installation;
