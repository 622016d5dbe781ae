-- What the checks need beside, in SQL Server 2022 and newer, and in Azure SQL Managed
-- Instance. Run it after the first part.
USE [master];
GRANT VIEW SERVER SECURITY STATE TO [muster];
GRANT VIEW ANY DEFINITION TO [muster];
GRANT VIEW ANY DATABASE TO [muster];
-- Only where MS-48 is to be answered, for it opens the hashes of passwords:
-- GRANT VIEW ANY CRYPTOGRAPHICALLY SECURED DEFINITION TO [muster];
USE [msdb];
CREATE USER [muster] FOR LOGIN [muster];
GRANT SELECT ON dbo.backupset TO [muster];
GRANT SELECT ON dbo.suspect_pages TO [muster];
GRANT SELECT ON dbo.sysalerts TO [muster];
GRANT SELECT ON dbo.sysproxylogin TO [muster];
GRANT SELECT ON dbo.sysproxies TO [muster];
USE [master];
-- The labels that owners gave columns, in each database that has some; else classification
-- is partial, for they may be hidden:
-- GRANT VIEW ANY SENSITIVITY CLASSIFICATION TO [muster];
-- Samples of the values in tables, which never leave the collector (classify: values). --values
GRANT SELECT ALL USER SECURABLES TO [muster]; --values
