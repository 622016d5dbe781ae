-- SQL Server 2016+ and Azure SQL: whether the query store of a database counts what is executed now.
--
-- It does in state 2 (READ_WRITE), unless it captures no new statements (mode 3). One that
-- is off (0), full or read-only for another reason (1) or broken (3) does not; nor does that
-- of a secondary replica (1, or 4), which shows what the primary did.
--
-- sys.database_query_store_options: relational-databases/system-catalog-views/sys-database-query-store-options-transact-sql
SELECT o.actual_state, o.query_capture_mode
FROM {database}.sys.database_query_store_options AS o
