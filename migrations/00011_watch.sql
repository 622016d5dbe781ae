-- Owner: internal/watch. What the built-in watch judges, and whether it does.
-- +goose Up

-- The freshest figure that each rule judges of each subject: an instance, or one
-- of its volumes. Rewritten with every sample, and never indexed by what moves:
-- half of a page is left free, so that the new version stays on it (HOT).
CREATE TABLE signs (
    organization_id uuid        NOT NULL,
    rule            text        NOT NULL, -- silent, volume, lock_wait, wraparound
    instance_id     uuid        NOT NULL,
    mount           text        NOT NULL, -- of a volume; empty with the other rules
    value           double precision,     -- in the rule's unit; null: forgotten, see doc.go
    at              timestamptz NOT NULL, -- when it was measured; when a server was heard from
    since           timestamptz,          -- when the breach began that nobody was told the end of; null: there is none
    until           timestamptz,          -- when the last one ended; null: it lasts, or there was none
    PRIMARY KEY (organization_id, rule, instance_id, mount)
) WITH (fillfactor = 50);

-- One row: since when, without a gap, somebody of this installation has been
-- there to hear the servers, until when, and when the signs were last judged.
CREATE TABLE watch_state (
    singleton       boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    listening_since timestamptz,
    listened_at     timestamptz,
    judged_at       timestamptz
);
INSERT INTO watch_state DEFAULT VALUES;

-- +goose Down
DROP TABLE watch_state, signs;
