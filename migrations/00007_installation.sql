-- Owner: internal/secrets. What this installation is: the fingerprints of the
-- things that every process on this database must share, such as the secret
-- key and the blob store. The first process writes them, the others compare.
-- +goose Up
CREATE TABLE installation (
    name        text        PRIMARY KEY,
    fingerprint text        NOT NULL CHECK (fingerprint <> ''),
    created_at  timestamptz NOT NULL DEFAULT now()
);

-- Every secret key that was ever current, so that a process that still has only
-- an old one is told so. The public half stays when the key itself is retired:
-- heads of the log that it signed can be checked for ever.
CREATE TABLE installation_keys (
    fingerprint text        PRIMARY KEY,
    public_key  bytea       NOT NULL, -- Ed25519
    since       timestamptz NOT NULL DEFAULT now(),
    retired_at  timestamptz           -- nothing may be sealed under it any more
);

-- +goose Down
DROP TABLE installation_keys, installation;
