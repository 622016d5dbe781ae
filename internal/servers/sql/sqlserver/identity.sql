-- identity: a server by its name, and since when it runs, as tempdb is made at each start
-- SQL Server 2016+. Azure SQL Database (EngineEdition 5) is one database, and has no tempdb to see.
SELECT CONCAT(UPPER(CONVERT(nvarchar(256), SERVERPROPERTY('ServerName'))),
		CASE WHEN CONVERT(int, SERVERPROPERTY('EngineEdition')) = 5 THEN CONCAT('/', DB_NAME()) END),
	COALESCE((SELECT CONVERT(nvarchar(30), d.create_date, 126) FROM sys.databases d WHERE d.name = 'tempdb'),
		CASE WHEN CONVERT(int, SERVERPROPERTY('EngineEdition')) = 5 THEN 'Azure' ELSE '' END),
	''
