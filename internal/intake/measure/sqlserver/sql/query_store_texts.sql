-- SQL Server 2016+ and Azure SQL: some texts of the query store of a database.
--
-- The view is asked by itself, as all of a query store are. What is cut here is far beyond what is kept of a text.
--
-- sys.query_store_query_text: relational-databases/system-catalog-views/sys-query-store-query-text-transact-sql
SELECT t.query_text_id, LEFT(t.query_sql_text, 32768)
FROM {database}.sys.query_store_query_text AS t
WHERE t.query_text_id IN (@list)
