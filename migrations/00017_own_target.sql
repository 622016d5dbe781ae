-- Owned by internal/assessment. A connection that the installation registered to the
-- PostgreSQL that it runs on: the only one that may use a socket, or lead there.
-- What is registered already is somebody's, until the demo registers its own again,
-- which it does at every start.
-- +goose Up
ALTER TABLE assessment_targets ADD COLUMN own boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE assessment_targets DROP COLUMN own;
