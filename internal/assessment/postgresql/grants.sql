-- What Muster needs to measure and to assess PostgreSQL from 13 on. Run it as a superuser,
-- the first part once a server, the second in the database that the connection goes to.

-- 1. Statistics, settings and the sizes of databases.
CREATE ROLE muster LOGIN; -- and give it a password: \password muster
GRANT pg_monitor TO muster;
-- What follows is for --classify values alone: samples of the values in tables, which never
-- leave the collector. Up to 13 there is no such role: grant SELECT on the tables.
GRANT pg_read_all_data TO muster; --values

-- 2. Who may sign in from where, and what the configuration files say that is not in force.
GRANT SELECT ON pg_catalog.pg_hba_file_rules TO muster;
GRANT EXECUTE ON FUNCTION pg_catalog.pg_hba_file_rules() TO muster;
GRANT SELECT ON pg_catalog.pg_file_settings TO muster;
GRANT EXECUTE ON FUNCTION pg_catalog.pg_show_all_file_settings() TO muster;

-- 3. In each database, and only if passwords that lie in options are to be found (@mapping@
-- says which): it shows them.
-- GRANT SELECT ON pg_catalog.pg_user_mapping TO muster;
-- In the first database, and only if how passwords are stored is to be assessed: it shows
-- their hashes.
-- GRANT SELECT (rolname, rolpassword) ON pg_catalog.pg_authid TO muster;
