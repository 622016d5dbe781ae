-- Owned by eventstore. An event is never changed and never deleted: whoever wants to
-- has to take this trigger away first, which only the owner of the table may.
-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION events_are_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'events is append-only';
END $$;
-- +goose StatementEnd
CREATE TRIGGER events_keep_what_they_say BEFORE UPDATE OR DELETE OR TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION events_are_append_only();

-- +goose Down
DROP TRIGGER events_keep_what_they_say ON events;
DROP FUNCTION events_are_append_only();
