-- identity: a database by its name and the machine that it runs on
-- Oracle 12.2+, where V$DATABASE is not granted; everybody may ask for their session's.
SELECT '', SYS_CONTEXT('USERENV', 'DB_UNIQUE_NAME') || '/' || SYS_CONTEXT('USERENV', 'CON_NAME') || '@' || SYS_CONTEXT('USERENV', 'SERVER_HOST'),
	CASE WHEN SYS_CONTEXT('USERENV', 'DATABASE_ROLE') = 'PRIMARY' THEN 'primary' ELSE 'standby' END
FROM dual
