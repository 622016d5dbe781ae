-- What Muster needs to measure and to assess PostgreSQL from 13 on. Run it as a superuser,
-- the first part once a server, the second in the database that the connection goes to.

-- 1. Statistics, settings and the sizes of databases.
CREATE ROLE muster LOGIN; -- and give it a password: \password muster
GRANT pg_monitor TO muster;
-- Samples of the values in tables, which never leave the collector (classify: values). It --values
-- opens every table, that with the hashes of passwords too; SELECT on some would do. --values
GRANT pg_read_all_data TO muster; --values

-- 2. Who may sign in from where, and what the configuration files say that is not in force.
GRANT SELECT ON pg_catalog.pg_hba_file_rules TO muster;
GRANT EXECUTE ON FUNCTION pg_catalog.pg_hba_file_rules() TO muster;
GRANT SELECT ON pg_catalog.pg_file_settings TO muster;
GRANT EXECUTE ON FUNCTION pg_catalog.pg_show_all_file_settings() TO muster;

-- 3. Only where these checks are to be answered, for what they open is secret: in each
-- database that has user mappings (PG-S35: passwords in their options), and in the first one
-- (PG-S11: the hashes of passwords).
-- GRANT SELECT ON pg_catalog.pg_user_mapping TO muster;
-- GRANT SELECT (rolname, rolpassword) ON pg_catalog.pg_authid TO muster;
