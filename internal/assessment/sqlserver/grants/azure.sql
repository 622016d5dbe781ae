-- What the checks need beside, in a database of Azure SQL Database. Run it there.
GRANT VIEW DEFINITION TO [muster];
-- The labels that owners gave columns.
GRANT VIEW ANY SENSITIVITY CLASSIFICATION TO [muster];
-- Samples of the values in tables, which never leave the collector (classify: values). --values
GRANT SELECT TO [muster]; --values
