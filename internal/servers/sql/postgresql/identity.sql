-- identity: a cluster, its process, and whether it follows another
-- PostgreSQL 13 and newer; everybody may run the functions, unless an administrator took
-- pg_control_system from them.
SELECT system_identifier::text, (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint::text,
	CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE 'primary' END
FROM pg_control_system()
