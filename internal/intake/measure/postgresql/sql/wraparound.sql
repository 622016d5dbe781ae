-- PostgreSQL 13 and newer. How much of the distance to wraparound the oldest database
-- has used, of transaction ids or of multixacts, in percent. Templates count: they
-- hold up the horizon like any other.
SELECT greatest(max(age(datfrozenxid)), max(mxid_age(datminmxid))) * 100.0 / 2147483648
FROM pg_database
