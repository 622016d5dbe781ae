-- Owner: internal/measurements/replication. Whose replication is related, without a look at every server.
-- Step: expand
-- A program from before reads the same rows.
-- +goose Up
CREATE INDEX replication_states_links ON replication_states USING gin (links) WITH (fastupdate = off); -- links hardly ever change

-- +goose Down
DROP INDEX replication_states_links;
