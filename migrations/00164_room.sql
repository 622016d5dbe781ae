-- Owner: internal/measurements/room. How full servers and their volumes are, and how they are looked after.
-- Step: expand
-- A program from before neither reads nor writes any of it.
-- +goose Up

-- The newest look at each server.
CREATE TABLE room_states (
    organization_id uuid        NOT NULL,
    instance_id     uuid        NOT NULL,
    at              timestamptz NOT NULL,
    state           jsonb       NOT NULL, -- room.State
    PRIMARY KEY (organization_id, instance_id)
);

-- How much was used, by the day: of volumes, tablespaces and databases.
CREATE TABLE room_days (
    organization_id uuid  NOT NULL,
    subject         text  NOT NULL, -- room.InstanceSubject or room.HostSubject
    kind            text  NOT NULL,
    name            text  NOT NULL,
    day             date  NOT NULL, -- UTC
    points          jsonb NOT NULL, -- [[seconds since 1970, used, size], …], at most one in three hours
    PRIMARY KEY (organization_id, subject, kind, name, day)
);
CREATE INDEX room_days_day ON room_days (day);

CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON room_states FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();
CREATE TRIGGER not_for_deleted_organizations AFTER INSERT ON room_days FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization();

-- +goose Down
DROP TABLE room_states, room_days;
