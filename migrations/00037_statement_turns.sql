-- Owned by internal/measurements/pgstore. Whose turn it is to send statements of an
-- instance: deltas of two senders would count twice.
-- +goose Up
CREATE TABLE statement_turns (
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    sender          text        NOT NULL,
    held_until      timestamptz NOT NULL, -- five minutes after the last call that was kept
    counted_until   timestamptz NOT NULL, -- the last time of which anybody sent statements
    since           timestamptz,          -- what began before it others have counted; null: nobody has
    PRIMARY KEY (organization_id, instance_id)
) WITH (fillfactor = 50); -- what moves is not indexed (HOT)

-- +goose Down
DROP TABLE statement_turns;
