-- Owned by internal/measurements/pgstore. When samples could last be sent, and since
-- when they can: after an absence no hour is sealed for a while. One row, which the first
-- process that takes samples in makes.
-- +goose Up
CREATE TABLE intake_presence (
    one     boolean     NOT NULL PRIMARY KEY DEFAULT true CHECK (one),
    seen_at timestamptz NOT NULL, -- moves once a minute
    back_at timestamptz NOT NULL  -- where it was not seen for more than an hour before
) WITH (fillfactor = 50);

-- +goose Down
DROP TABLE intake_presence;
