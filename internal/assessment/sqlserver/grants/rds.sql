-- What the checks need beside, in Amazon RDS for SQL Server. Run it after the first part. The
-- checks that read msdb or the hashes of passwords stay without an answer: the master user
-- does not have those rights.
GRANT VIEW ANY DEFINITION TO [muster];
GRANT VIEW ANY DATABASE TO [muster];
-- Samples of the values in tables, which never leave the collector (classify: values), in each database: --values
-- GRANT SELECT TO [muster]; --values
