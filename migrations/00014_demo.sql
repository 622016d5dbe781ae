-- Owner: internal/operate/demo.
-- +goose Up

-- The minutes of which the demo's servers on paper have their measurements. Moved
-- in the transaction that keeps them.
CREATE TABLE demo_measured (
    organization_id uuid           PRIMARY KEY REFERENCES organizations,
    minutes         tstzmultirange NOT NULL
);

-- +goose Down
DROP TABLE demo_measured;
