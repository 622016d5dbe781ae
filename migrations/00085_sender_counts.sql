-- Owner: internal/intake/senders. What senders sent in the last day, by name, and what became
-- of it.
-- Step: expand
-- A program from before counts none.
-- +goose Up
CREATE TABLE sender_counts (
    organization_id uuid        NOT NULL,
    token_id        uuid        NOT NULL,
    sender          text        NOT NULL, -- X-Muster-Sender; empty: none was said
    door            text        NOT NULL, -- the route
    name            text        NOT NULL, -- of a metric, or the sort of what was sent; empty: the rest
    reason          text        NOT NULL, -- empty: it was used
    hour            timestamptz NOT NULL,
    n               bigint      NOT NULL,
    last_at         timestamptz NOT NULL,
    PRIMARY KEY (organization_id, hour, token_id, sender, door, name, reason)
) WITH (fillfactor = 70);
CREATE INDEX sender_counts_hour ON sender_counts (hour);
CREATE TRIGGER not_for_deleted_organizations BEFORE INSERT ON sender_counts
    FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE sender_counts;
