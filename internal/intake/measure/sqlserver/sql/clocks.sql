-- SQL Server 2016+ and Azure SQL: what time it is in UTC, how many minutes local time is ahead, and when the server was started.
--
-- Times are microseconds since 1970. The server makes tempdb when it starts, which everybody
-- may see. The time is in local time, as it was written down then: it tells one start from
-- another, and nothing else. Azure SQL Database lists no tempdb: 0.
--
-- sys.databases: relational-databases/system-catalog-views/sys-databases-transact-sql
-- SYSUTCDATETIME, SYSDATETIMEOFFSET: t-sql/functions/date-and-time-data-types-and-functions-transact-sql
SELECT DATEDIFF_BIG(microsecond, '19700101', SYSUTCDATETIME()), DATEPART(tzoffset, SYSDATETIMEOFFSET()),
       COALESCE(MAX(DATEDIFF_BIG(microsecond, '19700101', d.create_date)), 0)
FROM sys.databases AS d
WHERE d.database_id = 2 AND d.name = 'tempdb'
