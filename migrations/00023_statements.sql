-- Owner: internal/measurements/pgstore. What statements are called: their keys and texts.
-- +goose Up

-- A row a statement that was executed, as long as its details may be kept (doc.go).
-- Neither what moves nor the text is indexed (HOT).
CREATE TABLE measured_statements (
    series_id   bigint      NOT NULL,
    hash        bigint      NOT NULL, -- of the database and the key, as details have it
    id          uuid        NOT NULL, -- by which the API knows it
    database_id uuid        NOT NULL,
    key         text        NOT NULL,
    text        text,                 -- normalized; null where the organization keeps none
    text_digest bigint,               -- of the text, so that a new one is told from it without reading it
    first_seen  timestamptz NOT NULL,
    last_seen   timestamptz NOT NULL, -- raised when it is an hour behind
    PRIMARY KEY (series_id, hash)
) WITH (fillfactor = 85);
CREATE INDEX measured_statements_id ON measured_statements (id);

-- +goose Down
DROP TABLE measured_statements;
