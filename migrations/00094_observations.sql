-- Owner: internal/watch/status. What each source saw last of each part of an instance.
-- Step: expand
-- A program from before neither reads nor writes it. Its instances are unknown to the new
-- program until a source reports again, which takes seconds.
-- +goose Up

-- Rewritten with every sample and never indexed by a column that moves: half of a page is
-- left free, so that the new version of a row stays on it (HOT).
CREATE TABLE observations (
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    source          text        NOT NULL, -- muster, feed, agent/<sender>, exporter/<metric>
    part            text        NOT NULL, -- connection, sessions, statements, databases, host
    ok              boolean     NOT NULL,
    since           timestamptz NOT NULL, -- the first observation of this outcome without a gap
    tried_at        timestamptz NOT NULL, -- the last observation
    ok_at           timestamptz,          -- the last one that succeeded
    every           double precision,     -- seconds between observations; null: one only
    code            text        NOT NULL, -- why not: the server's own code, or refused, timeout, …
    sentence        text        NOT NULL, -- the same for people
    PRIMARY KEY (organization_id, instance_id, source, part)
) WITH (fillfactor = 50);
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON observations FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE observations;
