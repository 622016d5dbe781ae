-- Owned by internal/proof/checkpoint, published_keys by internal/proof/signing. What an auditor
-- holds a log against: which installation it is, whose signatures are on it, and what was
-- signed.
-- +goose Up

-- The installation's id is in the first line of every checkpoint, so it is never another.
INSERT INTO installation (name, fingerprint) VALUES ('id', gen_random_uuid()::text);

-- The public halves of the keys that sign, retired ones among them: they check what was
-- signed for ever. Current keys are read from the key file and not from here.
CREATE TABLE published_keys (
    id           text        NOT NULL,
    use          text        NOT NULL CHECK (use IN ('log', 'report', 'pdf')),
    algorithm    text        NOT NULL,
    public_key   bytea       NOT NULL, -- SPKI, DER
    verifier_key text,                 -- C2SP's form, of a log's key
    certificate  text,                 -- PEM, of a pdf key
    fingerprint  text,                 -- of the secret key that it comes from; null: the operator's own
    valid_from   timestamptz NOT NULL DEFAULT now(),
    valid_to     timestamptz,
    PRIMARY KEY (use, id)
);

-- Rows are never more than events: one is made only where a log has grown.
CREATE TABLE log_checkpoints (
    log             text        NOT NULL,
    size            bigint      NOT NULL,
    root            bytea       NOT NULL, -- of the tree over the first size events
    note            text        NOT NULL, -- signed; witnesses' signatures are added
    made_at         timestamptz NOT NULL DEFAULT now(),
    timestamp_token bytea,                -- RFC 3161, DER; comes later, or never
    PRIMARY KEY (log, size)
);

-- What was signed cannot be taken back; what others sign below it is added.
-- +goose StatementBegin
CREATE FUNCTION log_checkpoints_are_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF (NEW.log, NEW.size, NEW.root, NEW.made_at) = (OLD.log, OLD.size, OLD.root, OLD.made_at)
           AND starts_with(NEW.note, OLD.note)
           AND (OLD.timestamp_token IS NULL OR NEW.timestamp_token = OLD.timestamp_token) THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'log_checkpoints is append-only';
END $$;
-- +goose StatementEnd
CREATE TRIGGER log_checkpoints_keep_their_rows BEFORE DELETE OR TRUNCATE ON log_checkpoints
    FOR EACH STATEMENT EXECUTE FUNCTION log_checkpoints_are_append_only();
CREATE TRIGGER log_checkpoints_keep_what_they_say BEFORE UPDATE ON log_checkpoints
    FOR EACH ROW EXECUTE FUNCTION log_checkpoints_are_append_only();

-- +goose Down
DROP TABLE log_checkpoints, published_keys;
DROP FUNCTION log_checkpoints_are_append_only();
DELETE FROM installation WHERE name = 'id';
