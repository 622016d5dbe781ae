-- Owner: internal/watch. A volume is watched once a host, and an alert says more than its
-- value: which servers are on the host, which lock is waited for, which database is old.
-- Step: expand
-- A program from before reads and writes signs by the columns that it knows, and judges
-- neither rows of the rule host_volume nor of the rule host, whose instance_id is the host's.
-- +goose Up

ALTER TABLE signs ADD COLUMN details jsonb NOT NULL DEFAULT '{}';

-- +goose Down
DELETE FROM signs WHERE rule IN ('host_volume', 'host');
ALTER TABLE signs DROP COLUMN details;
