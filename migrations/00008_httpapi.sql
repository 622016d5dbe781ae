-- Owner: internal/httpapi
-- +goose Up
-- Requests that may be sent again (Idempotency-Key): a claim while the first
-- one runs, then its answer, for 24 hours.
CREATE TABLE idempotency_keys (
    member_id      uuid        NOT NULL,
    route          text        NOT NULL,
    key            text        NOT NULL, -- SHA-256 of who asks and their key
    claim          uuid        NOT NULL, -- who may write the answer
    made           uuid        NOT NULL, -- the id of what the request makes, whoever runs it
    request_digest bytea       NOT NULL, -- HMAC of the body under their key
    claimed_at     timestamptz NOT NULL,
    status         int,                  -- null while the first one runs
    headers        text,                 -- JSON
    body           bytea,
    PRIMARY KEY (member_id, route, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (claimed_at);

-- +goose Down
DROP TABLE idempotency_keys;
