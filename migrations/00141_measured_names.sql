-- Owner: internal/measurements/pgstore. The names of waits, users, applications and clients that samples of sessions
-- have only hashes of.
-- Step: expand
-- A program from before neither reads nor writes any of it.
-- +goose Up

-- A row for each name, for as long as the details of statements may be kept. Users, applications and clients are
-- personal data: their rows are deleted when an organization keeps no people (session_detail).
CREATE TABLE measured_names (
    organization_id uuid        NOT NULL,
    hash            bigint      NOT NULL, -- of the dimension and the name
    dimension       text        NOT NULL,
    name            text        NOT NULL,
    last_seen       timestamptz NOT NULL, -- raised when it is an hour behind
    PRIMARY KEY (organization_id, hash)
);
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON measured_names FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

ALTER TABLE organizations ADD COLUMN session_detail text NOT NULL DEFAULT 'on'
    CONSTRAINT organizations_session_detail_check CHECK (session_detail IN ('off', 'on'));

-- +goose Down
ALTER TABLE organizations DROP COLUMN session_detail;
DROP TABLE measured_names;
