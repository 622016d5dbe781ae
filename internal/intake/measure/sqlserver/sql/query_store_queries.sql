-- SQL Server 2016+ and Azure SQL: the hashes and the numbers of the texts of the queries in the query store of a database.
--
-- Queries are numbered as they come, as plans are. Those of the server's own are nobody's.
--
-- sys.query_store_query: relational-databases/system-catalog-views/sys-query-store-query-transact-sql
SELECT q.query_id, CONVERT(char(16), q.query_hash, 2), q.is_internal_query, q.query_text_id
FROM {database}.sys.query_store_query AS q
WHERE q.query_id > @after
