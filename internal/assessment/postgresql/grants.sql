-- What Muster needs to measure and to assess PostgreSQL from 13 on. Run it as a superuser, in
-- the database that the connection goes to; parts 1 and 2 hold on the whole server.

-- 1. Needed: statistics, settings and the sizes of databases. pg_monitor shows the sessions
-- of others with the texts of their statements, and all settings.
CREATE ROLE muster LOGIN; -- and give it a password: \password muster
GRANT pg_monitor TO muster;
-- Samples of the values in tables, which never leave the collector (classify: values). It --values
-- opens every table, that with the hashes of passwords too; SELECT on some would do. --values
GRANT pg_read_all_data TO muster; --values

-- 2. Needed: CONNECT on the databases that are closed to PUBLIC.
DO $grants$ DECLARE account name := 'muster'; closed name; BEGIN FOR closed IN
  SELECT datname FROM pg_database WHERE datallowconn AND NOT datistemplate
      AND NOT has_database_privilege(account, oid, 'CONNECT') AND pg_has_role(datdba, 'USAGE') LOOP
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', closed, account); END LOOP; END $grants$;

-- 3. Needed: who may sign in from where, and what the configuration files say that is not in
-- force. On a managed platform leave it out: the platform does not give it.
GRANT SELECT ON pg_catalog.pg_hba_file_rules TO muster;
GRANT EXECUTE ON FUNCTION pg_catalog.pg_hba_file_rules() TO muster;
GRANT SELECT ON pg_catalog.pg_file_settings TO muster;
GRANT EXECUTE ON FUNCTION pg_catalog.pg_show_all_file_settings() TO muster;

-- 4. Needed for Query Performance, with pg_stat_statements in shared_preload_libraries.
CREATE EXTENSION IF NOT EXISTS pg_stat_statements;

-- 5. Optional, for what these open is secret. Each is for one check: the hashes of passwords
-- (PG-S11), and in each database that has user mappings, the passwords in their options (PG-S35).
-- GRANT SELECT (rolname, rolpassword) ON pg_catalog.pg_authid TO muster;
-- GRANT SELECT ON pg_catalog.pg_user_mapping TO muster;
