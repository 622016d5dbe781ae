-- PostgreSQL 13 and newer. How much of the distance to wraparound the oldest database
-- has used, of transaction ids or of multixacts, in percent; which one, and of which of the
-- two. Templates count: they hold up the horizon like any other.
SELECT greatest(age(datfrozenxid), mxid_age(datminmxid)) * 100.0 / 2147483648, datname, mxid_age(datminmxid) > age(datfrozenxid)
FROM pg_database
ORDER BY 1 DESC, datname
LIMIT 1
