-- identity: a process of a cluster that does not name itself
-- PostgreSQL 13 and newer, where pg_control_system is not ours to run.
SELECT '', (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint::text,
	CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE 'primary' END
