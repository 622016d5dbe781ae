-- What Muster needs to measure Amazon RDS for SQL Server. Run it in master, as the master
-- user, with a password of your own.
CREATE LOGIN [muster] WITH PASSWORD = N'<password>';
-- Sessions and waits, and the counters and texts of statements in the plan cache.
GRANT VIEW SERVER STATE TO [muster];
-- The query stores of the databases that there are: a user in each, for the master user
-- may not let a login into all databases. Run this part again when a database is added.
DECLARE @users nvarchar(max) = N'';
SELECT @users += N'USE ' + QUOTENAME(name) + N'; IF USER_ID(N''muster'') IS NULL CREATE USER [muster] FOR LOGIN [muster]; '
FROM sys.databases
WHERE database_id > 4 AND name <> N'rdsadmin' AND state = 0 AND is_read_only = 0 AND HAS_DBACCESS(name) = 1;
EXEC (@users);
