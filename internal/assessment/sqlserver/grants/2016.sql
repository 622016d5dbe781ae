-- What the checks need beside, in SQL Server 2016, 2017 and 2019. Run it after the first
-- part. MS-48 stays without an answer: the hashes of passwords are for CONTROL SERVER alone,
-- which is the whole server.
USE [master];
GRANT VIEW ANY DEFINITION TO [muster];
GRANT VIEW ANY DATABASE TO [muster];
USE [msdb];
CREATE USER [muster] FOR LOGIN [muster];
GRANT SELECT ON dbo.backupset TO [muster];
GRANT SELECT ON dbo.suspect_pages TO [muster];
GRANT SELECT ON dbo.sysalerts TO [muster];
GRANT SELECT ON dbo.sysproxylogin TO [muster];
GRANT SELECT ON dbo.sysproxies TO [muster];
USE [master];
-- The labels that owners gave columns (2019), in each database that has some; else classification
-- is partial, for they may be hidden:
-- GRANT VIEW ANY SENSITIVITY CLASSIFICATION TO [muster];
-- Samples of the values in tables, which never leave the collector (classify: values). --values
GRANT SELECT ALL USER SECURABLES TO [muster]; --values
