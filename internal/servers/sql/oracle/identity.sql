-- identity: a database, which of its copies, and the container that a session is in
-- Oracle 12.2+. Reading V$DATABASE is a grant; all instances of a cluster have one name.
SELECT TO_CHAR(d.dbid), d.db_unique_name || '/' || SYS_CONTEXT('USERENV', 'CON_NAME'),
	CASE WHEN d.database_role = 'PRIMARY' THEN 'primary' ELSE 'standby' END
FROM v$database d
