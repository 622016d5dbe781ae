-- Owner: internal/measurements/blocking. The sides of deadlocks, and those of which only the number is known.
-- Step: expand
-- A program from before neither reads nor writes any of it.
-- +goose Up

-- The newest deadlock of a database in ten minutes with its sides, once of those that the server reported and once of
-- those that a look at its sessions happened to see. Or, without a tree: how many there were of which the server tells
-- neither the sides nor the database.
CREATE TABLE blocking_deadlocks (
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    database        text        NOT NULL, -- its name; empty: not known
    reported        boolean     NOT NULL, -- by the server; false: a look saw the circle
    slot            timestamptz NOT NULL, -- at, or where there is a tree the ten minutes that it is in
    at              timestamptz NOT NULL,
    count           integer     NOT NULL, -- 1 where there is a tree
    tree            jsonb,                -- Tree
    PRIMARY KEY (organization_id, instance_id, database, reported, slot)
);
CREATE INDEX blocking_deadlocks_at ON blocking_deadlocks (organization_id, at);
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON blocking_deadlocks FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE blocking_deadlocks;
