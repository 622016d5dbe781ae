-- Owner: projections/fleet. Finds instances by their hosts in other spellings.
-- Step: expand
-- A program from before does not ask for it.
-- +goose Up
-- What the spellings of one host have in common, in the form that fleet.HostLookups makes of
-- an address that is looked for: of a name its first label, of IPv4 the address, of IPv6 its
-- end. Other hosts may have it, too; the program compares what is found.
-- +goose StatementBegin
CREATE FUNCTION host_lookup(host text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
SELECT CASE
    WHEN host ~ ':.*:' THEN CASE
        WHEN tail.text LIKE '%.%' THEN tail.text
        ELSE '::' || ltrim(tail.text, '0')
    END
    WHEN host ~ '^[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+(:[0-9]*)?$' THEN split_part(host, ':', 1)
    ELSE substring(lower(host) from '^[^.:\\,]*')
END
FROM (SELECT substring(lower(host) from ':([0-9a-f.]*)(?:%[^]]*)?(?:\](?::[0-9]*)?)?$')) AS tail (text)
$$;
-- +goose StatementEnd
-- The tables of a read model are made when it is filled. One that is there already gets its
-- index here.
-- +goose StatementBegin
DO $$
DECLARE
    found regclass;
BEGIN
    FOR found IN SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relname = 'instances' AND c.relkind = 'r' AND n.nspname ~ '^fleet_v[0-9]+_g[0-9]+$'
    LOOP
        EXECUTE format('CREATE INDEX ON %s (organization_id, host_lookup(host))', found);
    END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION host_lookup(text) CASCADE;
