-- Owner: internal/accounts and internal/operate/deletion. Organizations that were deleted, and
-- what keeps everybody from writing for them again.
-- +goose Up
CREATE TABLE deleted_organizations (
    id          uuid        NOT NULL PRIMARY KEY,
    name        text        NOT NULL, -- until nothing is left, for whoever has to go on; then empty
    deleted_at  timestamptz NOT NULL,
    finished_at timestamptz           -- nothing is left
);

-- A request, a collector or a worker may have begun before its organization was deleted
-- and write after that. Whoever inserts a row for an organization holds a lock of its id
-- until the transaction ends, and then looks whether it was deleted. Who deletes notes
-- that first, commits, and then waits for that lock once: of whoever inserted before, the
-- row is there and is deleted; whoever comes later sees the note. Inserts alone are
-- looked at: a row that is there is deleted, and an update finds none. Where one statement
-- inserts for many organizations, the row is left out; else the statement is refused.
-- +goose StatementBegin
CREATE FUNCTION refuse_deleted_organization() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('organization ' || NEW.organization_id, 0));
    IF EXISTS (SELECT FROM deleted_organizations d WHERE d.id = NEW.organization_id) THEN
        IF TG_WHEN = 'BEFORE' THEN
            RETURN NULL;
        END IF;
        RAISE EXCEPTION 'organization % was deleted', NEW.organization_id USING ERRCODE = 'MU010';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd

-- Every table with rows of an organization, but the log (events, streams), what a read
-- model could not take of it (dead_letters), and those of whole_ that are written only by
-- who holds a row of measured_series or wholes.
-- +goose StatementBegin
DO $$
DECLARE
    t text;
    t_many CONSTANT text[] := ARRAY['engine_drops', 'monitor_leases', 'wholes'];
BEGIN
    FOR t IN
        SELECT c.table_name
        FROM information_schema.columns c
        JOIN information_schema.tables b USING (table_schema, table_name)
        WHERE c.table_schema = current_schema() AND c.column_name = 'organization_id' AND b.table_type = 'BASE TABLE'
          AND c.table_name NOT IN ('events', 'streams', 'dead_letters', 'whole_marks', 'whole_missing', 'whole_rows')
    LOOP
        EXECUTE format('CREATE TRIGGER not_for_deleted_organizations %s INSERT ON %I '
            'FOR EACH ROW EXECUTE FUNCTION refuse_deleted_organization()',
            CASE WHEN t = ANY (t_many) THEN 'BEFORE' ELSE 'AFTER' END, t);
    END LOOP;
END $$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION refuse_deleted_organization() CASCADE;
DROP TABLE deleted_organizations;
