-- Oracle 12.2+: whether redo logs are archived, and for how many seconds the database has been there.
-- Database Reference: V$DATABASE.
SELECT log_mode, ROUND((SYSDATE - created) * 86400) FROM v$database
