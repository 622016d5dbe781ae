-- Owner: internal/intake/monitor. Which process measures which server.
-- +goose Up

-- The right to measure a server that is registered with its connection: a lease,
-- beside the one for assessing it, which another process may hold. Renewed every few
-- seconds, so nothing is indexed that moves (HOT).
CREATE TABLE monitor_leases (
    instance_id     uuid NOT NULL PRIMARY KEY,
    organization_id uuid NOT NULL,
    token           uuid,
    leased_until    timestamptz,
    statements_at   timestamptz, -- until when its statements have been counted
    missing_grants  json NOT NULL DEFAULT '[]' -- what its role may not read of the statistics
) WITH (fillfactor = 50);

-- The processes that share the servers among them.
CREATE TABLE monitor_processes (
    process    uuid        NOT NULL PRIMARY KEY,
    seen_until timestamptz NOT NULL
) WITH (fillfactor = 50);

-- +goose Down
DROP TABLE monitor_processes, monitor_leases;
