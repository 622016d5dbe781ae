-- Owner: internal/measurements/drops.
-- +goose Up

-- The engines that tiles of the dashboard were answered without, because they could
-- not be read. At most three tiles and five engines an organization; counted up, so
-- nothing is indexed that moves (HOT).
CREATE TABLE engine_drops (
    organization_id uuid        NOT NULL,
    tile            text        NOT NULL,
    engine          text        NOT NULL,
    drops           bigint      NOT NULL,
    last_at         timestamptz NOT NULL,
    last_error      text        NOT NULL, -- a sentence of ours, never what a driver said
    PRIMARY KEY (organization_id, tile, engine)
) WITH (fillfactor = 50);

-- +goose Down
DROP TABLE engine_drops;
