-- Keeps every table from being dropped between the snapshot and pg_dump, which
-- locks them itself a moment later and fails at one that has gone: an ended
-- generation of a projection may be dropped just then. Run before the snapshot is
-- taken, so that what it shows is still there. What goes while this runs is not
-- in the snapshot, and what may not be locked is pg_dump's to complain about.
DO $$
DECLARE
    kept record;
BEGIN
    FOR kept IN
        SELECT n.nspname AS of, c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't'
          AND n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema'
    LOOP
        BEGIN
            EXECUTE format('LOCK TABLE %I.%I IN ACCESS SHARE MODE', kept.of, kept.name);
        EXCEPTION WHEN undefined_table OR invalid_schema_name OR insufficient_privilege THEN
            NULL;
        END;
    END LOOP;
END $$
